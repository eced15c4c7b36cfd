# options: -W error
# ends: UserWarning: careful
import warnings


def f():
    x = 1
    warnings.warn("careful")
    return x


f()
