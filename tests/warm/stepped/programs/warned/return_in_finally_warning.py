def f():
    for i in range(2):
        try:
            1 / 0
        finally:
            continue


print(f())
