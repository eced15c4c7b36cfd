# run: -m pkg x
# --- file: pkg/__init__.py
print("init", __name__, __path__)
value = 1
# --- file: pkg/__main__.py
import sys

from . import value
from .sub import helper

print(__name__, __package__, __spec__.name, sys.argv, helper(value))
# --- file: pkg/sub.py
from . import value as v


def helper(x):
    return x + v, __name__
