it = iter(range(10))
for x in it:
    print(x, next(it, None))
    if x > 4:
        break
print(list(it))


def f(it):
    for a in it:
        for b in it:
            if b % 3 == 0:
                break
        print(a, b)


f(iter(range(12)))
