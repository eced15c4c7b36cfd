# ends: TypeError
from dataclasses import asdict, dataclass, field, replace


@dataclass(order=True)
class P:
    x: int
    y: int = 0
    tags: list = field(default_factory=list, compare=False)

    def __post_init__(self):
        self.sum = self.x + self.y

    def norm(self) -> int:
        return abs(self.x) + abs(self.y)


@dataclass(frozen=True)
class F:
    a: str = "a"


print(P(1), P(1, 2) < P(2), asdict(P(3, tags=["t"])), replace(P(1), x=5), P(1, 2).norm())
print(F(), hash(F()) == hash(F()))
try:
    F().a = "b"
except Exception as error:
    print(type(error).__name__, error)
P()
