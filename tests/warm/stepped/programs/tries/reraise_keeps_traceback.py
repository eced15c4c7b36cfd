# ends: ValueError
def inner():
    raise ValueError("x")


def middle():
    try:
        inner()
    except ValueError:
        print("seen")
        raise


def outer():
    try:
        middle()
    except ValueError as e:
        print(e.__traceback__.tb_lineno, e.__traceback__.tb_next.tb_lineno)
        raise e


outer()
