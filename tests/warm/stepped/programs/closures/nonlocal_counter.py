def counter(start=0):
    n = start

    def up(by=1):
        nonlocal n
        n += by
        return n

    def down():
        nonlocal n
        n -= 1
        return n

    def get():
        return n

    return up, down, get


up, down, get = counter(5)
print(up(), up(10), down(), get())
up2, _, get2 = counter()
print(up2(), get(), get2())
