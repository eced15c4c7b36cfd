import contextlib


@contextlib.contextmanager
def m(n):
    print("in", n)
    try:
        yield n
    except ValueError as error:
        print("caught", n, error)
        raise
    finally:
        print("out", n)


def f():
    with contextlib.ExitStack() as stack:
        ns = [stack.enter_context(m(i)) for i in range(3)]
        stack.callback(print, "callback", ns)
        stack.push(lambda *exc: print("pushed", exc[0]) or True)
        raise ValueError("x")
    return "suppressed"


print(f())
