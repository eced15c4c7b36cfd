def f(n):
    return [sorted(locals()) for i in range(n)], sorted(vars()), dir()


print(f(1))


class A:
    a = 1
    names = sorted(k for k in vars())
    print(dir())


print(A.names)
