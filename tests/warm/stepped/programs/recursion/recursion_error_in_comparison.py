# ends: RecursionError
def f(n):
    m = n
    if m < 0:
        return 0
    m = m + 1
    return f(m)


f(0)
