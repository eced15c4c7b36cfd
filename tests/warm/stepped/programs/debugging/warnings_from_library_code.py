import lib


def f():
    return lib.old()


f()
lib.old()
# --- file: lib.py
import warnings


def old():
    warnings.warn("use new", FutureWarning, stacklevel=2)
    warnings.warn("internal", FutureWarning, stacklevel=3)
