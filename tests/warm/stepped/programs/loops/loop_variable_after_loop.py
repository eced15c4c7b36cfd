def f():
    for i in range(3):
        pass
    for j in "ab":
        i += 1
    return i, j


print(f())
for i in range(3):
    i *= 10
    print(i)
print(i)
