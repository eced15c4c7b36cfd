# needs: 3.10
def f(a):
    if a:
        b = 1
    else:
        b = 2
    for i in range(b):
        print(i)
    return b


print(sorted({line for _, _, line in f.__code__.co_lines() if line is not None}))
f(1)
