# ignore: \d+\.\d+
import profile


def g(n):
    return sum(range(n))


def f(n):
    for i in range(n):
        g(i)


p = profile.Profile()
p.runcall(f, 4)
import pstats

print(sorted((k[2], v[0]) for k, v in pstats.Stats(p).stats.items() if k[0].endswith("main.py")))
