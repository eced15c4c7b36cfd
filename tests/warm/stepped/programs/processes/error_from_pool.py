# ends: ValueError: bad 2
import multiprocessing as mp


def work(n):
    if n == 2:
        raise ValueError(f"bad {n}")
    return n


if __name__ == "__main__":
    with mp.get_context("fork").Pool(1) as pool:
        print(pool.map(work, [2, 3]))
