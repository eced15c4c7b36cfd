# ends: RuntimeError: deep
def a(n):
    return b(n - 1) if n else fail()


def b(n):
    if n:
        return a(n - 1)
    else:
        return fail()


def fail():
    raise RuntimeError("deep")


a(7)
