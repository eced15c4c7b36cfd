# ignore: 0x[0-9a-f]+
def f(a, b: int = 2) -> str:
    """Say so."""
    f.calls += 1
    return str(a + b)


f.calls = 0
f(1)
f(2)
print(f.calls, f.__name__, f.__qualname__, f.__module__, f.__doc__, f.__annotations__)
print(f.__dict__, f)
f.__name__ = "other"
print(f)
