# stdin: p i\nn\nn\np i\nn\nunt\nw\nc\nc\nc\n
def f():
    total = 0
    for i in range(3):
        if i == 1:
            breakpoint()
        total += i
    return total


print(f())
