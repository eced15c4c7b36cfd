# needs: 3.12
# ends: ZeroDivisionError
class Box[T]:
    def __init__(self, v: T):
        self.v = v

    def div[U](self, other: U) -> float:
        return self.v / other


def use[T](box: Box[T]):
    return box.div(0)


use(Box(1))
