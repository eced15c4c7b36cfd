# needs: 3.10
def f(v):
    match v:
        case [a, b] if a > b:
            pass
        case [a, *_]:
            pass
    return sorted(locals().items())


print(f([2, 1]), f([1, 2]), f([1, 2, 3]), f(0))
match (1, 2):
    case x, y:
        print(x, y)
print(x, y, "a" in globals())
