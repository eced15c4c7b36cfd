def v(n):
    print("v", n)
    return n


print(v(1) < v(2) < v(3), v(3) < v(1) < v(9))
x = 5
print(1 < x <= 5 != 6 > 2, 1 == 1 in [1], not 1 < 2, x is not None is not False)
