# ends: AssertionError: got 3
def check(n):
    assert n < 3, f"got {n}"
    assert (n, "always true")[0] or True
    return n


print(check(1), __debug__)
try:
    assert not True
except AssertionError as error:
    print(repr(error))
check(3)
