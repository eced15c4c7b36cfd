# ends: SyntaxError
def f(text):
    return eval(text)


print(f("1 + 1"))
try:
    f("1 +")
except SyntaxError as error:
    print(error.lineno, error.offset, error.text)
f("a b")
