# until: 3.13
x: int = 1
y: str
z: "later"
(w): int = 2


class A:
    a: int
    b: str = "b"

    def f(self, n: int = 1, *args: float, **kw: "x") -> None:
        local: undefined = 3
        other: undefined
        return local


print(__annotations__, A.__annotations__, A.f.__annotations__, A().f())
