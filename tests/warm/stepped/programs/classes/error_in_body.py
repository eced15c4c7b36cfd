# ends: NameError
class A:
    a = 1

    def f(self):
        return a

    b = [a for _ in range(2)] if False else a
    c = undefined


print("never")
