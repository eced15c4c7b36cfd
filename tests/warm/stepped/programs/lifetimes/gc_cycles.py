import gc

gc.collect()


class N:
    def __init__(self, n):
        self.n = n
        self.me = self

    def __del__(self):
        print("del", self.n)


def f():
    N(1)
    n = N(2)
    print("made")


f()
print(gc.collect() > 0)
gc.disable()
f()
gc.enable()
print("counts", gc.isenabled(), gc.get_threshold())
gc.collect()
print("end")
