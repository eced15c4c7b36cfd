# needs: 3.11
# ends: ExceptionGroup: several (2 sub-exceptions)
def make(n):
    try:
        return 1 / n
    except ZeroDivisionError as error:
        return error


def f():
    errors = []
    for n in (0, 1, 0):
        r = make(n)
        if isinstance(r, Exception):
            errors.append(r)
    raise ExceptionGroup("several", errors)


f()
