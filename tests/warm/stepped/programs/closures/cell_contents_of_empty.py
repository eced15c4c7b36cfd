def f():
    def g():
        return later

    cell = g.__closure__[0]
    try:
        cell.cell_contents
    except ValueError as error:
        print(error)
    later = 1
    print(cell.cell_contents)
    return g


print(f()())
