# options: -i
# stdin: print(x)\nf()\n
x = 5


def f():
    return x + 1


print("script done")
