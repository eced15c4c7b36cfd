# ends: TypeError
with open(__file__) as f:
    print("fine")


def g():
    with 3 as n:
        print("never")


try:
    g()
except AttributeError as error:  # 3.9 and 3.10
    raise TypeError from error
