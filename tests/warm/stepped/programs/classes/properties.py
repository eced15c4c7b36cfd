# ends: AttributeError
class Temp:
    def __init__(self, c):
        self.c = c

    @property
    def f(self):
        """Fahrenheit."""
        return self.c * 9 / 5 + 32

    @f.setter
    def f(self, value):
        self.c = (value - 32) * 5 / 9

    @f.deleter
    def f(self):
        print("deleted")
        del self.c

    @property
    def fixed(self):
        return 1


t = Temp(100)
print(t.f, Temp.f.__doc__)
t.f = 32
print(t.c)
del t.f
t.fixed = 2
