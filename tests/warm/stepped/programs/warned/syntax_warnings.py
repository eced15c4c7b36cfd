# A warning of the compiler must come once, and with its line.
x = 1
if x is 1:
    print("same")
print("\d", (1, 2)
      [0])
assert (x, "always")
