"""A function that is looked at, and one that is only in the same file."""


def loop(count):
    total = 0
    for number in range(count):
        twice = number * 2
        total = total + twice
    return total


def beside(values):
    first, *rest = values
    return first, rest
