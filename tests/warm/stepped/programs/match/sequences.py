# needs: 3.10
def f(x):
    match x:
        case []:
            return "empty"
        case [a]:
            return "one", a
        case [a, b, *_]if a == b:
            return "twins", a
        case (first, *middle, last) if middle:
            return first, middle, last
        case [_, [inner, *rest]]:
            return "nested", inner, rest
        case [x, y]:
            return "pair", x, y
    return "nothing"


for v in ([], [1], [1, 1, 5], (1, 2, 3, 4), [0, [1, 2]], "ab", [1, 2], range(2), {}):
    print(v, f(v))
