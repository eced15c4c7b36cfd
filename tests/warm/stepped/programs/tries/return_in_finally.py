# options: -W ignore
def f():
    try:
        return "try"
    finally:
        return "finally"


def g():
    try:
        1 / 0
    finally:
        return "swallowed"


def h():
    for i in range(3):
        try:
            1 / 0
        finally:
            print("f", i)
            if i == 1:
                break
            continue
    return i


print(f(), g(), h())
