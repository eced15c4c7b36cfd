def gen(name):
    try:
        for i in range(10):
            yield i
    finally:
        print("closed", name)


for x in gen("a"):
    print(x)
    if x == 1:
        break
print("after a")


def f():
    for x in gen("b"):
        if x == 2:
            print("returning")
            return x


print(f(), "after b")
