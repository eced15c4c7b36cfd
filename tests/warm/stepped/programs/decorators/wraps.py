# ends: ValueError: inner
import functools


def log(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        print("call", f.__name__, args, kwargs)
        result = f(*args, **kwargs)
        print("result", result)
        return result

    return wrapper


@log
def add(a, b=2):
    """Add."""
    return a + b


@log
def fail():
    raise ValueError("inner")


add(1, b=3)
print(add.__name__, add.__doc__, add.__wrapped__(1), add.__qualname__)
fail()
