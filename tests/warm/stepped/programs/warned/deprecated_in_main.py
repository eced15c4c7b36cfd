import warnings


def old():
    warnings.warn("old is deprecated", DeprecationWarning, stacklevel=2)


old()
import lib

lib.use(old)
# --- file: lib.py
def use(f):
    f()
