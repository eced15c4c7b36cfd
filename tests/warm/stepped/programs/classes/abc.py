# ends: TypeError
from abc import ABC, abstractmethod


class Base(ABC):
    @abstractmethod
    def f(self):
        """Do it."""
        print("base f")

    @property
    @abstractmethod
    def p(self): ...

    def g(self):
        return self.f(), self.p


class Ok(Base):
    p = 4

    def f(self):
        super().f()
        return 3


print(Ok().g(), sorted(Base.__abstractmethods__))
Base.register(int)
print(isinstance(3, Base))
Base()
