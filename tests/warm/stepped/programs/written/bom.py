# bytes: bom
# ends: NameError
print("with a byte order mark")
x = 1
nope
