def add(**kw):
    def wrap(cls):
        print("wrap", cls.__name__, list(kw))
        for k, v in kw.items():
            setattr(cls, k, v)
        return cls

    return wrap


def instance(cls):
    return cls()


@add(a=1, b=lambda self: self.a + 1)
@add(c=3)
class X:
    def d(self):
        return self.b() + self.c


@instance
class single:
    value = 5

    def __repr__(self):
        return f"{type(self).__name__}({self.value})"


print(X().d(), single)
