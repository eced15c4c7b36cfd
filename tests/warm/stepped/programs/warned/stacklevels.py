import warnings


def f(level):
    warnings.warn(f"level {level}", stacklevel=level)


def g(level):
    f(level)


for level in (1, 2, 3, 4):
    g(level)
warnings.warn("top")
warnings.warn("dep", DeprecationWarning, stacklevel=1)
