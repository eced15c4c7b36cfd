import random

random.seed(5)


def f():
    return [random.randrange(100) for _ in range(5)]


print(f(), f(), random.random())
r = random.Random("text")
print(r.choice("abc"), r.sample(range(10), 3))
