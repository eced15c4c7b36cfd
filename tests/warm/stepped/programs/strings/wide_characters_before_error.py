# ends: ZeroDivisionError
def f(z):
    return "日本語", "é", 1 / z, "ü" * 3


f(0)
