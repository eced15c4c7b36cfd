import sys


def f():
    secret = [1, 2]
    raise ValueError


try:
    f()
except ValueError as error:
    tb = error.__traceback__.tb_next
    print(sorted(tb.tb_frame.f_locals))
    tb.tb_frame.clear()
    print(tb.tb_frame.f_locals)
