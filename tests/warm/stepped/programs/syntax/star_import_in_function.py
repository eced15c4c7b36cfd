# ends: SyntaxError: import * only allowed at module level
def f():
    from os import *
