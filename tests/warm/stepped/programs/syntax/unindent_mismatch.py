# ends: IndentationError: unindent does not match
def f():
        a = 1
    b = 2
