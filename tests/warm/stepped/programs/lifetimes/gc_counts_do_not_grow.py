import gc


class A:
    pass


def alive():
    gc.collect()
    return sum(isinstance(o, A) for o in gc.get_objects())


for i in range(3):
    a = A()
    b = [A() for _ in range(i)]
    print(alive())
del a, b
print(alive())
