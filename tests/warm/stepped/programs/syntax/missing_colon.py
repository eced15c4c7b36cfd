# ends: SyntaxError
print("never")
def f()
    return 1
