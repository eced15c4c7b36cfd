def f(n):
    deepest[0] = n
    if n >= 0:
        for _ in (1,):
            try:
                f(n + 1)
            finally:
                count[0] += 1


deepest, count = [0], [0]
try:
    f(1)
except RecursionError as error:
    print(error)
print(deepest, count)
