def f(n):
    seen = []

    def walk(k):
        seen.append(k)
        if k > 1:
            walk(k // 2 if k % 2 == 0 else 3 * k + 1)

    walk(n)
    return seen


print(f(6))
