# needs: 3.13
class A[T = int]: ...


def f[K = str](x: K) -> K:
    return x


print(A.__type_params__[0].__default__, f.__type_params__[0].__default__, f(1))
