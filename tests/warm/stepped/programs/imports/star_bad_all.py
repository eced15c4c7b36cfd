# ends: AttributeError: module 'lib' has no attribute 'nope'
from lib import *
# --- file: lib.py
__all__ = ["nope"]
