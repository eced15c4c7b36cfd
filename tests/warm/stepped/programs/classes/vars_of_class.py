# ignore: 0x[0-9a-f]+
class A:
    """Doc."""

    x: int = 1
    y: "str"

    def f(self):
        return 1

    class B:
        pass

    t = lambda self: self


print({k: v for k, v in sorted(vars(A).items()) if k not in ("__dict__", "__weakref__")})
print(dir(A))
