# until: 3.13
class O:
    pass


o = O()
o.x: int = 1
d: dict = {}
d["k"]: str = "v"
print(o.x, d, sorted(__annotations__))


def f():
    a: int
    b: int = 2
    try:
        return a
    except UnboundLocalError as error:
        print(error)
    return b


print(f())


def order():
    print("evaluated")
    return int


z: order() = 3
