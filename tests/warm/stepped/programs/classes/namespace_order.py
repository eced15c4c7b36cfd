class Record(dict):
    def __setitem__(self, key, value):
        print("set", key)
        super().__setitem__(key, value)

    def __delitem__(self, key):
        print("del", key)
        super().__delitem__(key)

    def __getitem__(self, key):
        print("get", key)
        return super().__getitem__(key)


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        return Record()

    def __new__(mcs, name, bases, ns):
        return super().__new__(mcs, name, bases, dict(ns))


class A(metaclass=Meta):
    x = 1
    y = x + 1

    def f(self):
        return 1

    for i in range(2):
        z = i
    del i
    if y > 1:
        w: int = 5


print(sorted(k for k in vars(A) if not k.startswith("_")))
