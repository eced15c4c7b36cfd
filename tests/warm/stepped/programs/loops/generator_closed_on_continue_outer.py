def gen(n):
    try:
        yield from range(5)
    finally:
        print("closed", n)


def f():
    for i in range(3):
        for j in gen(i):
            if j == i:
                print("leave", i)
                break
            print(i, j)
        else:
            print("else")
        print("after", i)


f()
while True:
    for x in gen("w"):
        break
    print("out")
    break
