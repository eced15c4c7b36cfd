import multiprocessing as mp

print("loading", __name__, flush=True)


def work(q, n):
    q.put((__name__, n * 2))


if __name__ == "__main__":
    ctx = mp.get_context("spawn")
    q = ctx.SimpleQueue()
    p = ctx.Process(target=work, args=(q, 21))
    p.start()
    print(q.get())
    p.join()
    print(p.exitcode)
