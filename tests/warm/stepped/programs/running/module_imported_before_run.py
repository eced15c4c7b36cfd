# run: -m pkg.mod
# --- file: pkg/__init__.py
from . import mod
# --- file: pkg/mod.py
print("loaded as", __name__)
