# ends: SyntaxError
def f(x):
    f(x) = 1
