import dis


def f(xs):
    total = 0
    for x in xs:
        total += x
    return total


for i in dis.get_instructions(f):
    print(i.opname, i.argrepr)
print([line for _, line in dis.findlinestarts(f.__code__)])
