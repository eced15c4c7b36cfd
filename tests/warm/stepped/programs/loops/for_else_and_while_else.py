def f(limit):
    for i in range(4):
        if i == limit:
            print("break", i)
            break
    else:
        print("for else", i)
    n = 0
    while n < 3:
        n += 1
        if n == limit:
            break
    else:
        print("while else", n)
    return i, n


for limit in (0, 2, 9):
    print(f(limit))
