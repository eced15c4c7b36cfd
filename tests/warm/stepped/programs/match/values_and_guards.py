# needs: 3.10
import enum


class C(enum.Enum):
    R = 1
    G = 2


class K:
    limit = 10


def f(v, log):
    match v:
        case C.R:
            return "red"
        case C.G if log.append("guard") or False:
            return "never"
        case K.limit:
            return "limit"
        case n if (m := n * 2 if isinstance(n, int) else 0) > 10:
            return "big", m
        case _:
            return "rest", log


print(f(C.R, []), f(C.G, []), f(10, []), f(7, []), f(1, []))
