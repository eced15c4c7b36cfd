# ends: ZeroDivisionError
x = 1 + \
    2 + \
    3
if x > 1 and \
   x < 10:
    print("yes", \
          x)
from os import \
    path
assert x == 6, \
    "no"
with open(__file__) as a, \
        open(__file__) as b:
    y = x \
        / \
        0
