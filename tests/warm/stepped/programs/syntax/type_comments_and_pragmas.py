def f(a,  # type: int
      b):  # type: (...) -> int
    # type: (int, int) -> int
    x = []  # type: list[int]
    for i in range(2):  # type: int
        x.append(i)  # noqa
    with open(__file__) as h:  # type: ignore
        pass
    return x  # pragma: no cover


print(f(1, 2))
# type: ignore
