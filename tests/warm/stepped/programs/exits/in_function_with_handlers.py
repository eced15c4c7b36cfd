# exit: 5
import sys


def f():
    try:
        sys.exit(5)
    except Exception:
        print("not caught")
    finally:
        print("cleanup")


class M:
    def __enter__(self): ...

    def __exit__(self, kind, value, tb):
        print("exit", kind.__name__, value.code)


with M():
    for i in range(3):
        f()
