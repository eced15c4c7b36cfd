import functools

calls = []


@functools.cache
def fib(n):
    calls.append(n)
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@functools.lru_cache(maxsize=2)
def f(x, *, k=1):
    return x + k


class A:
    @functools.cached_property
    def slow(self):
        print("computed")
        return 42


print(fib(20), len(calls), fib.cache_info())
print(f(1), f(1), f(2), f(3), f(1), f.cache_info(), f.__wrapped__(1))
a = A()
print(a.slow, a.slow, vars(a))
p = functools.partial(f, 10, k=5)
print(p(), p.func is f, p.args, functools.reduce(lambda x, y: x * y, range(1, 6)))
