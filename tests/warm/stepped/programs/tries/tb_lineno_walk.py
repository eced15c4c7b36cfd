import sys


def c():
    raise LookupError


def b():
    for _ in range(1):
        with open(__file__):
            c()


def a():
    if True:
        try:
            b()
        finally:
            pass


try:
    a()
except LookupError:
    tb = sys.exc_info()[2]
    while tb:
        print(tb.tb_frame.f_code.co_name, tb.tb_lineno, tb.tb_frame.f_lineno, tb.tb_lasti >= 0)
        tb = tb.tb_next
