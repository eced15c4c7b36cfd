import sys


def f(a, b=1):
    code = sys._getframe().f_code
    return code.co_name, code.co_firstlineno, code.co_argcount, code.co_varnames, code.co_nlocals


print(f(1))
print(sys._getframe().f_code.co_name, sys._getframe().f_back)
