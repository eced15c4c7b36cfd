# ends: RuntimeError: super(): no arguments
class A:
    def f(self):
        return 1


class B(A):
    def f(self):
        def inner(me):
            return super().f() + 1

        print(inner(self))
        print([super(B, self).f() for _ in range(2)])

        def broken():
            return super().f()

        return broken()


B().f()
