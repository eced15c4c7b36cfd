class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases, **kw):
        print("prepare", name, [b.__name__ for b in bases], kw)
        return {"added": 1}

    def __new__(mcs, name, bases, ns, **kw):
        print("new", name, list(ns))
        return super().__new__(mcs, name, bases, ns)

    def __init__(cls, name, bases, ns, **kw):
        print("init", name, kw)
        super().__init__(name, bases, ns)

    def __call__(cls, *args):
        print("call", args)
        return super().__call__(*args)


class A(metaclass=Meta, flag=True):
    """Doc."""

    x = 1

    def __init__(self, v=0):
        self.v = v

    def f(self):
        return __class__


class B(A):
    y = 2


print(A(3).v, B().f(), B.added)
