def f(n):
    if n == 0:
        return "a"
    elif n == 1:
        return "b"
    elif n == 2:
        x = "c"
    elif n == 3:
        x = "d"
    elif n == 4:
        if n:
            x = "e"
        else:
            x = "never"
    elif n == 5:
        pass
        x = "f"
    elif n == 6:
        raise ValueError(n)
    elif n == 7:
        x = "h"
    elif n == 8:
        for x in "i":
            pass
    elif n == 9:
        x = "j"
    else:
        x = "else"
    return x


for n in range(12):
    try:
        print(f(n))
    except ValueError as error:
        print("error", error)
