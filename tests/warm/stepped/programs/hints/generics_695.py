# needs: 3.12
type Pair[T] = tuple[T, T]


class Stack[T]:
    def __init__(self) -> None:
        self.items: list[T] = []

    def push(self, item: T) -> None:
        self.items.append(item)

    def map[U](self, f) -> "Stack[U]":
        out = Stack()
        for i in self.items:
            out.push(f(i))
        return out


def first[T: (int, str), *Ts, **P](x: T, *rest: *Ts) -> T:
    return x


s = Stack[int]()
s.push(1)
s.push(2)
print(s.map(lambda v: v * 2).items, first(3), first.__type_params__, Stack.__type_params__)
print(Pair, Pair.__value__, Pair[int], first.__annotations__)
