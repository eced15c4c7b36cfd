import traceback


def outer(n):
    def inner(m):
        if m:
            return inner(m - 1)
        return [1 // m for _ in "x"]

    return inner(n)


try:
    outer(2)
except ZeroDivisionError as error:
    for frame, line in traceback.walk_tb(error.__traceback__):
        print(frame.f_code.co_name, line, sorted(frame.f_locals)[:3] if frame.f_code.co_name != "<module>" else "")
