# stdin: l\nn\nn\ns\nw\nr\nn\np a, b\nc\n
def f(x):
    return x + 1


import pdb; pdb.set_trace()
a = 1
b = f(a)
print(a, b)
