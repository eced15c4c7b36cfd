import logging


def f():
    return {}["x"]


try:
    f()
except KeyError:
    logging.exception("went wrong")
logging.warning("with stack", stack_info=True)
