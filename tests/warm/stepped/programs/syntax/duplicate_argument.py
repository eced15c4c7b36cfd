# ends: SyntaxError: duplicate argument 'a'
def f(a, a):
    pass
