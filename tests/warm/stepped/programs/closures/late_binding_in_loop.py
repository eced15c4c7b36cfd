fs = []
for i in range(3):
    fs.append(lambda: i)
print([f() for f in fs])


def make():
    out = []
    for i in range(3):
        out.append(lambda: i)
        print([f() for f in out])
    i = 10
    return out


print([f() for f in make()])
