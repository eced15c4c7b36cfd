# ends: TypeError: catching classes
kinds = (ValueError,)


def pick(*more):
    print("pick")
    return kinds + more


try:
    [][1]
except pick():
    print("no")
except pick(IndexError):
    print("yes")
try:
    1 / 0
except "nope":
    pass
