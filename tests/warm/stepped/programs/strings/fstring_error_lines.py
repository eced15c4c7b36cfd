# ends: ZeroDivisionError
def f(n):
    return f"""
    first {n}
    second {1 / n}
    """


print(f(1))
f(0)
