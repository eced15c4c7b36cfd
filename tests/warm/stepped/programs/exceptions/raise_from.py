# ends: The above exception was the direct cause of the following exception
def low():
    return {}["key"]


def high():
    try:
        low()
    except KeyError as error:
        raise ValueError("high") from error


high()
