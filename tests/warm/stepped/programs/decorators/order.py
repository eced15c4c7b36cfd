def d(name):
    print("make", name)

    def wrap(f):
        print("apply", name, f.__name__)

        def inner(*a):
            print("call", name)
            return f(*a)

        return inner

    return wrap


@d("a")
@d("b")
def f(x):
    return x + 1


print(f(1))


class C:
    @d("m")
    def m(self):
        return "m"

    @staticmethod
    @d("s")
    def s():
        return "s"

    @classmethod
    @d("c")
    def c(cls):
        return cls.__name__


print(C().m(), C.s(), C.c())
