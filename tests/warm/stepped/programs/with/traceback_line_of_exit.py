# ends: ValueError
class M:
    def __enter__(self): ...

    def __exit__(self, *exc):
        raise ValueError("exit without error in body")


def f():
    with M():
        a = 1
        b = 2
        if a:
            b = 3

    return b


f()
