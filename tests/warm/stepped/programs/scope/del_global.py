# ends: NameError
x = 1
print(x)
del x
try:
    del x
except NameError as error:
    print(error)
for x in range(3):
    pass
del x
print(x)
