try:
    raise KeyError("k")
except KeyError as e:
    print(e)
    del e
print("e" in globals())
try:
    raise KeyError("k")
except KeyError as e:
    e = 5
print("e" in globals())
