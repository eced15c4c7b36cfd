# ends: RuntimeError: dictionary changed size during iteration
d = {1: 1, 2: 2}


def f():
    for k in d:
        print(k)
        d[k + 10] = 0


f()
