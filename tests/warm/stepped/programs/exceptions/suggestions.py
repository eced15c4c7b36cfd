# ends: AttributeError
class Thing:
    colour = 1


def f():
    total_count = 1
    try:
        print(totl_count)
    except NameError as error:
        print(error)
    return Thing().color


f()
