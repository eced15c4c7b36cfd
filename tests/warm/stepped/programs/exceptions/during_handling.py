# ends: During handling of the above exception, another exception occurred
def cleanup():
    return undefined_cleanup


def f():
    try:
        1 / 0
    except ZeroDivisionError:
        cleanup()


f()
