# ends: RuntimeError: level 3
def f(n):
    if n == 0:
        raise RuntimeError("level 0")
    try:
        f(n - 1)
    except RuntimeError as error:
        if n % 2:
            raise RuntimeError(f"level {n}") from error
        raise RuntimeError(f"level {n}")


f(3)
