# ends: NameError
def outer(flag):
    def inner():
        return value

    if flag:
        value = 1
    return inner()


print(outer(True))
outer(False)
