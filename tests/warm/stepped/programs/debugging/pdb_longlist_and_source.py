# stdin: ll\nsource f\nwhatis f\np f.__code__.co_firstlineno\nc\n
def f(a):
    # comment
    import pdb

    pdb.set_trace()
    return a


f(1)
