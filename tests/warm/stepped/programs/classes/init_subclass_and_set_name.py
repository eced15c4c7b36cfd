class Field:
    def __set_name__(self, owner, name):
        print("set_name", owner.__name__, name)
        self.name = name

    def __get__(self, obj, owner=None):
        return self if obj is None else obj.__dict__.get(self.name, "unset")

    def __set__(self, obj, value):
        print("set", self.name, value)
        obj.__dict__[self.name] = value


class Base:
    registry = []

    def __init_subclass__(cls, /, tag=None, **kw):
        super().__init_subclass__(**kw)
        cls.registry.append((cls.__name__, tag))
        print("subclass", cls.__name__, tag)


class A(Base, tag="a"):
    x = Field()
    y = Field()


class B(A):
    pass


b = B()
b.x = 1
print(b.x, b.y, Base.registry, B.x is A.__dict__["x"])
