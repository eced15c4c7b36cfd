# stdin: x = 50\n!y = 3\nn\nn\nc\n
def f(x):
    y = 1
    breakpoint()
    z = x + y
    print(z)
    return z


f(2)
