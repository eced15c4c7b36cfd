import sys


def f():
    return sys._getframe().f_code is f.__code__, sys._getframe().f_code == f.__code__


def gen():
    yield sys._getframe().f_code is gen.__code__


class A:
    def m(self):
        return sys._getframe().f_code is A.m.__code__


print(f(), next(gen()), A().m())


def h():
    try:
        1 / 0
    except ZeroDivisionError as error:
        return error.__traceback__.tb_frame.f_code is h.__code__


print(h())
