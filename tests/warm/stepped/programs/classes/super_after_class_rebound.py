class A:
    def f(self):
        return "A"


class B(A):
    def f(self):
        return super().f() + "B"


Old = B
B = None
print(Old().f())
