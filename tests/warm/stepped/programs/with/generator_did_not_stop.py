# ends: RuntimeError: generator didn't stop
import contextlib


@contextlib.contextmanager
def m():
    yield 1
    yield 2


with m() as x:
    print(x)
