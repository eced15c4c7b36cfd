import multiprocessing as mp


def work(q):
    q.put("from " + __name__)


if __name__ == "__main__":
    ctx = mp.get_context("forkserver")
    q = ctx.SimpleQueue()
    p = ctx.Process(target=work, args=(q,))
    p.start()
    print(q.get())
    p.join()
    print(p.exitcode)
