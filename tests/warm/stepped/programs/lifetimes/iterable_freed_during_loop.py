class L(list):
    def __del__(self):
        print("list freed")


def make():
    return L([1, 2])


for x in make():
    print(x)
print("after")


def f():
    xs = L([3])
    for x in xs:
        del xs
        print("in loop", x)
    print("loop over")


f()
for c in reversed(L([5, 6])):
    print(c)
    break
print("end")
