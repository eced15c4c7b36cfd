if (n := len("abc")) > 2:
    print(n)
while (n := n - 1) > 0:
    print("left", n)
print([m := 1, m**2, (k := 3)], m, k)


def f(x):
    return (y := x + 1), y * 2, (lambda: (z := y))()


print(f(1))
print(f"{(q := 5)} {q:=5}")
