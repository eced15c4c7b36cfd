def f():
    out = []
    for a in range(2):
        if a >= 0:
            while True:
                try:
                    with open(__file__):
                        for b in range(2):
                            if b:
                                try:
                                    for c in range(2):
                                        if c:
                                            with open(__file__):
                                                while c:
                                                    c -= 1
                                                    try:
                                                        out.append((a, b, c))
                                                        if a:
                                                            raise KeyError
                                                    finally:
                                                        out.append("f")
                                except KeyError:
                                    out.append("caught")
                                    continue
                finally:
                    out.append("outer")
                break
    return out


print(f())
