# ends: SyntaxError
print("never")
class A:
    yield 1
