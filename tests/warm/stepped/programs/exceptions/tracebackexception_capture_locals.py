import traceback


def f(a):
    b = a + 1
    for i in range(3):
        if i == 2:
            return b / 0
    return None


try:
    f(4)
except ZeroDivisionError as error:
    te = traceback.TracebackException.from_exception(error, capture_locals=True)
    print("".join(te.stack.format()[1:]))
