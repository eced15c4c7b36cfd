import logging


def f():
    logging.warning("%d items", "x")


f()
print("after")
