def f():
    x = 1
    get = lambda: x
    print(get())
    x = 2
    print(get())
    for x in range(5):
        pass
    print(get())
    with open(__file__) as x:
        print(get() is x)
    try:
        raise ValueError("v")
    except ValueError as x:
        print(repr(get()))
    try:
        get()
    except NameError as error:
        print(error)


f()
