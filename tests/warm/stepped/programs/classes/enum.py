# ends: ValueError
import enum


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    ALSO_RED = 1

    def describe(self):
        return f"{self.name}={self.value}"

    @classmethod
    def default(cls):
        return cls.GREEN


class Perm(enum.Flag):
    R = enum.auto()
    W = enum.auto()
    RW = R | W


class Auto(enum.IntEnum):
    A = enum.auto()
    B = A + 10
    C = enum.auto()


print(list(Color), Color.RED is Color.ALSO_RED, Color["GREEN"].describe(), Color.default())
print(Perm.R | Perm.W, Perm.RW & Perm.R, [a.value for a in Auto])
Color(3)
