# ignore: Process-\d+
import multiprocessing as mp


def work(n):
    def inner():
        return {}[n]

    return inner()


if __name__ == "__main__":
    p = mp.get_context("spawn").Process(target=work, args=(1,), name="P")
    p.start()
    p.join()
    print(p.exitcode)
