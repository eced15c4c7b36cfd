import functools


@functools.singledispatch
def show(x):
    return f"any {x}"


@show.register
def _(x: int):
    return f"int {x}"


@show.register(list)
def _(x):
    return "list " + ", ".join(show(i) for i in x)


class A:
    @functools.singledispatchmethod
    def m(self, x):
        return "other"

    @m.register
    def _(self, x: str):
        return "str"


print(show([1, "a", 2.5]), A().m("x"), A().m(1), show.registry.keys() == {object, int, list})
