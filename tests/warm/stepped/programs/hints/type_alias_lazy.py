# needs: 3.12
type Later = Undefined
print(Later)
try:
    Later.__value__
except NameError as error:
    print(error)
Undefined = int
print(Later.__value__)


def f():
    type Inner = list[Later]
    return Inner


print(f().__value__)
