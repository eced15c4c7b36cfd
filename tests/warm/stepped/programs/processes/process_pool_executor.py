from concurrent.futures import ProcessPoolExecutor
import multiprocessing as mp


def cube(n):
    return n**3


def main():
    with ProcessPoolExecutor(2, mp_context=mp.get_context("fork")) as pool:
        print(list(pool.map(cube, range(4))))


if __name__ == "__main__":
    main()
