# needs: 3.10
def f(x):
    match x:
        case {"kind": "point", "at": [x, y]}:
            return x, y
        case {"kind": kind, **rest}:
            return kind, rest
        case {1: _, None: v}:
            return "keys", v
        case {}:
            return "some mapping"
        case _:
            return "none"


for v in ({"kind": "point", "at": [1, 2]}, {"kind": "k", "b": 1}, {1: 2, None: 3}, {"z": 1}, 5):
    print(f(v))
