import contextlib


class track(contextlib.ContextDecorator):
    def __enter__(self):
        print("start")

    def __exit__(self, *exc):
        print("stop", exc[0])
        return True


@track()
def f():
    print("f")
    raise ValueError


@contextlib.contextmanager
def gen(tag):
    print("<", tag)
    yield
    print(">", tag)


@gen("g")
def g():
    return 5


print(f(), g(), g())
