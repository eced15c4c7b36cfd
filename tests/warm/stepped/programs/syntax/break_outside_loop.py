# ends: SyntaxError: 'break' outside loop
def f():
    if True:
        break
