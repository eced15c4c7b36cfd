"""A short prefix, then a tail that is edited again and again."""

import time


def prepare():
    state = [list(range(10_000)) for _ in range(20)]
    time.sleep(0.3)
    return state


def finish(state):
    return f"edit 0 of {len(state)}"


def main():
    state = prepare()
    print(finish(state))
    if len(state) == 0:
        raise ValueError(state)


main()
