# ends: OSError: from generator
import contextlib


@contextlib.contextmanager
def m():
    print("before")
    try:
        yield 1
    except ValueError as error:
        raise OSError("from generator") from error
    print("never")


def use():
    with m() as one:
        print(one)
        raise ValueError("from body")


use()
