class M:
    def __init__(self, name, suppress=False):
        print("init", name)
        self.name = name
        self.suppress = suppress

    def __enter__(self):
        print("enter", self.name)
        return self.name

    def __exit__(self, kind, value, tb):
        print("exit", self.name, kind and kind.__name__, value, tb and tb.tb_lineno)
        return self.suppress


with M("a") as a, M("b", True) as b:
    print(a, b)
    raise ValueError("inside")
print("after")
with M("c"):
    with M("d", True):
        1 / 0
    print("between")
