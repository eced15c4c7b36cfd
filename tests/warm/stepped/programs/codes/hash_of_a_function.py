# As caches do that are keyed by what a function is.
import hashlib


def key(f):
    c = f.__code__
    parts = [c.co_code, repr(c.co_names).encode(), repr(c.co_varnames).encode()]
    return hashlib.sha256(b"|".join(parts)).hexdigest()[:16]


def square(x):
    if x < 0:
        raise ValueError(x)
    return x * x


def same(x):
    if x < 0:
        raise ValueError(x)
    return x * x


print(key(square), key(square) == key(same), square(3))
print(key(square))
