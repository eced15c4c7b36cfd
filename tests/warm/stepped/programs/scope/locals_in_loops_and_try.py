def f():
    for i in (1,):
        print(locals())
        for j in (2,):
            print(locals())
        try:
            k = 3
            print(locals())
            raise ValueError
        except ValueError as e:
            print(sorted(locals()))
        finally:
            print(locals())
    while True:
        print(locals())
        break
    return locals()


print(f())
