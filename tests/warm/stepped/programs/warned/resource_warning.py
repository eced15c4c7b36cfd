# options: -W always
# ignore: 0x[0-9a-f]+
def f():
    handle = open(__file__)
    return 1


f()
print("after")
