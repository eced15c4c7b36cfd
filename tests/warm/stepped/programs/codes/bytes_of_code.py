import hashlib


def f(a, b):
    c = a * b
    return c + 1


print(len(f.__code__.co_code), hashlib.md5(f.__code__.co_code).hexdigest())
print(f.__code__.co_lnotab if False else f.__code__.co_consts)
print(f(2, 3))
