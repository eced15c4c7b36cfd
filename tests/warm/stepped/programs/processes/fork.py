import multiprocessing as mp


def work(n):
    return n * n


class Job:
    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        return self.n + x


if __name__ == "__main__":
    ctx = mp.get_context("fork")
    with ctx.Pool(2) as pool:
        print(pool.map(work, range(4)), pool.map(Job(10), [1, 2]))
