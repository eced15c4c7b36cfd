import contextlib


def f():
    out = []
    try:
        with contextlib.suppress(KeyError):
            try:
                out.append(1)
                {}["x"]
                out.append(2)
            finally:
                out.append(3)
        out.append(4)
        with contextlib.suppress(KeyError), contextlib.suppress(IndexError):
            [][0]
        out.append(5)
    finally:
        out.append(6)
    return out


print(f())
