# ends: ValueError: stored
def make():
    try:
        raise ValueError("stored")
    except ValueError as error:
        return error


saved = make()
for i in range(3):
    try:
        raise saved
    except ValueError as error:
        print(i, error is saved)


def again():
    raise saved


again()
