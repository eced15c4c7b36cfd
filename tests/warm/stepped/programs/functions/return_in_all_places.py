def f(n):
    if n == 0:
        return "zero"
    for i in range(10):
        if i == n:
            return f"loop {i}"
    else:
        if n < 0:
            return
    while True:
        n -= 1
        if n < 20:
            return "while", n


for n in (0, 5, -1, 12, 100):
    print(n, f(n))
