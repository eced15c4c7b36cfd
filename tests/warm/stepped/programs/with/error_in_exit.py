# ends: LookupError: in exit
class M:
    def __enter__(self):
        return 1

    def __exit__(self, *exc):
        raise LookupError("in exit")


def f():
    with M():
        x = 1
        raise ValueError("in body")


f()
