# The code object of a function is one object, however often and wherever it is asked for.
import types

seen = {}


def note(f):
    seen[f.__name__] = f.__code__
    return f


@note
def f(a):
    b = a + 1
    return b


@note
async def co():
    return 1


@note
def gen():
    yield 1


for _ in range(3):
    f(1)
    print(f.__code__ is seen["f"], co.__code__ is seen["co"], gen.__code__ is seen["gen"])
print(types.coroutine(co).__code__ is seen["co"], getattr(f, "__code__") is f.__code__)
g = gen()
print(g.gi_code is gen.__code__, vars(types.FunctionType)["__code__"].__get__(f) is seen["f"])


def later():
    return later.__code__


print(later() is later.__code__, {f.__code__: 1}[f.__code__], id(f.__code__) == id(seen["f"]))
