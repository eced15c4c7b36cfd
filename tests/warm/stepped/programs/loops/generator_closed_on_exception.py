# ends: ValueError: stop
def gen():
    try:
        yield 1
        yield 2
    finally:
        print("closed")


def f():
    try:
        for x in gen():
            raise ValueError("stop")
    finally:
        print("finally")


try:
    f()
except ValueError as error:
    print("caught")
    del error
print("next")
f()
