# needs: 3.10
def f(a, b):
    match a:
        case 1:
            match b:
                case 1:
                    return "11"
                case _:
                    r = "1x"
            return r + "!"
        case 2:
            for i in range(3):
                match i:
                    case 1 if b:
                        return "from loop"
            else:
                return "after"
    return "end"


print([f(a, b) for a in (1, 2, 3) for b in (0, 1)])
