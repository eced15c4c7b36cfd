import timeit

calls = 0


def f():
    global calls
    calls += 1


t = timeit.timeit(f, number=10)
print(t > 0, calls, timeit.timeit("f()", number=3, globals=globals()) > 0, calls)
