# ends: ValueError: 3
from concurrent.futures import ThreadPoolExecutor, as_completed


def square(n):
    if n == 3:
        raise ValueError(n)
    return n * n


with ThreadPoolExecutor(2) as pool:
    print(list(pool.map(square, range(3))))
    futures = [pool.submit(square, n) for n in range(4)]
    print(sorted(f.result() for f in as_completed(futures) if not f.exception()))
    print(futures[3].result())
