def f(n):
    global f
    print("old", n)

    def f(m):
        print("new", m)
        return m * 10

    return f(n) + 1


g = f
print(g(1))
print(f(2))
print(g(3))
