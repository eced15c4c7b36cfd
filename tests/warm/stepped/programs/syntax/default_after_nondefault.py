# ends: SyntaxError
def f(a=1, b):
    pass
