def f():
    n = 0
    seen = []
    while (m := n * n) < 30 and not (seen and seen[-1] > 20):
        seen.append(m)
        n += 1
        if n == 2:
            continue
        seen.append(-n)
    return seen


print(f())
xs = [1, 2, 3]
while xs:
    print(xs.pop())
while True:
    try:
        xs.pop()
    except IndexError:
        break
