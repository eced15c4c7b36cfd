# ends: ZeroDivisionError
def f(a, b):
    x = (a + 1) * 2 + (a /
                       b) - 3
    return x


def main():
    print(f(1, 1)); f(
        1,
        0,
    )


main()
