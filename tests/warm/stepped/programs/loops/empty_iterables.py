for x in ():
    print("never")
else:
    print("else")
print("x" in globals())


def f():
    for y in []:
        pass
    try:
        return y
    except UnboundLocalError as error:
        return str(error)


print(f())
while 0:
    pass
else:
    print("while else")
