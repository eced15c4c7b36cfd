# needs: 3.10
def f(x):
    match x:
        case 0:
            return "zero"
        case 1 | 2 | 3 as small:
            return "small", small
        case -1 | 1.5 | 2 + 3j:
            return "odd number"
        case "a" "b":
            return "text"
        case b"bytes":
            return "bytes"
        case True | None:
            return "constant"
        case other:
            return "other", other


for v in (0, 2, -1, 1.5, 2 + 3j, "ab", b"bytes", None, False, "z"):
    print(repr(v), f(v))
