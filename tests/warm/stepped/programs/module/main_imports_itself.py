import sys

print("loading as", __name__)


class A:
    pass


if __name__ == "__main__":
    import main

    print(main.A is A, main.__name__, main.__file__ == __file__)
