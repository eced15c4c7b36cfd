# ignore: 0x[0-9a-f]+
import sys

print(list(globals()))
x = 1


def f():
    y = 2
    return list(globals())


print(f())
print(list(locals()) == list(globals()), list(vars()) == list(globals()))
for i in range(2):
    with open(__file__) as handle:
        pass
print([k for k in globals()])
print(dir())
