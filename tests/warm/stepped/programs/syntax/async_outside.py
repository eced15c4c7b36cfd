# ends: SyntaxError: 'await' outside
def f():
    await g()
