import types

ns = types.SimpleNamespace(a=1)
ns.b = 2
print(ns, types.MappingProxyType({"x": 1})["x"])


def m(self, k):
    return self.a + k


ns.m = types.MethodType(m, ns)
print(ns.m(5))
C = types.new_class("C", (), {}, lambda body: body.update(f=lambda self: "f"))
print(C().f(), type("D", (C,), {"g": lambda self: self.f() + "g"})().g())


@types.coroutine
def co():
    x = yield "y"
    return x


c = co()
print(next(c))
