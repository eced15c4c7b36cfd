# needs: 3.10
# ends: ZeroDivisionError
def f(v):
    match v:
        case {"a": a}:
            print("a", a)
            return 1 / a
        case _:
            return None


f({"a": 1})
f({"a": 0})
