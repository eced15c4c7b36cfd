# bytes: nul
# until: 3.10
print("before")
print("x")  <NUL> + 2
