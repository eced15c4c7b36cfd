import functools


def counted(limit):
    def wrap(f):
        n = 0

        @functools.wraps(f)
        def inner(*args):
            nonlocal n
            n += 1
            if n > limit:
                return f"over {n}"
            return f(*args)

        inner.count = lambda: n
        return inner

    return wrap


@counted(2)
def double(x):
    """Double."""
    return 2 * x


print([double(i) for i in range(4)], double.count(), double.__doc__, double.__name__)
