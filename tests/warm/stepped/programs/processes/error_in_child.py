# ignore: Process-\d+
import multiprocessing as mp


def inner(n):
    return 1 / n


def work(n):
    return inner(n)


if __name__ == "__main__":
    p = mp.get_context("fork").Process(target=work, args=(0,))
    p.start()
    p.join()
    print(p.exitcode)
