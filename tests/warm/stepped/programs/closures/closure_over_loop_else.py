def f(limit):
    fs = []
    for i in range(5):
        if i == limit:
            break
        fs.append(lambda: (i, limit))
    else:
        limit = "none"
    return [g() for g in fs]


print(f(2))
print(f(9))
