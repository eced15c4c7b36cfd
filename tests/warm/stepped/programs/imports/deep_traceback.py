# ends: ValueError: bottom
import pkg.one
# --- file: pkg/__init__.py
"""Package."""
# --- file: pkg/one.py
from pkg import two
# --- file: pkg/two.py
from .three import *
# --- file: pkg/three.py
class Config:
    def check(self):
        raise ValueError("bottom")


Config().check()
