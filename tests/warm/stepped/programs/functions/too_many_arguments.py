# ends: TypeError
def f(a, b=2):
    return a + b


print(f(1))
print(f(1, 1))
try:
    f()
except TypeError as error:
    print(error)
try:
    f(1, a=1)
except TypeError as error:
    print(error)
try:
    f(1, nope=1)
except TypeError as error:
    print(error)
f(1, 2, 3)
