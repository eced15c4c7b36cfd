# needs: 3.10
# ends: RuntimeError: subject
class Bad:
    @property
    def x(self):
        raise LookupError("in pattern")


def f(v):
    match v:
        case Bad(x=1):
            print("no")
        case int() if 1 // v:
            return "fine"
    return "end"


print(f(1))
try:
    f(Bad())
except LookupError as error:
    print(error)
try:
    f(0)
except ZeroDivisionError as error:
    print(error)


def subject():
    raise RuntimeError("subject")


match subject():
    case _:
        pass
