def f():
    out = []
    for i in range(6):
        try:
            if i == 1:
                continue
            if i == 4:
                break
            out.append(i)
        finally:
            out.append(f"f{i}")
    else:
        out.append("else")
    return out


print(f())


def g():
    while True:
        try:
            try:
                return "inner"
            finally:
                print("one")
        finally:
            print("two")


print(g())
