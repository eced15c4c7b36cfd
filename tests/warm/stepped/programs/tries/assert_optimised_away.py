# options: -O
def f():
    """Doc stays."""
    assert False, "never"
    if __debug__:
        print("debug")
    return __debug__


print(f(), f.__doc__)
