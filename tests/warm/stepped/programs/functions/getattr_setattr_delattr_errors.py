# ends: AttributeError
class Thing:
    def __init__(self):
        self.a = 1


def main():
    thing = Thing()
    setattr(thing, "b", 2)
    print(getattr(thing, "b"), getattr(thing, "c", None))
    del thing.b
    try:
        del thing.b
    except AttributeError as error:
        print(error)
    return thing.aa


main()
