# ends: SyntaxError
def f():
    print "hello"
