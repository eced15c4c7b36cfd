globals()["made"] = 1
print(made)
globals().update(a=2, b=3)
print(a + b)
for name in ("p", "q"):
    globals()[name] = lambda name=name: name
print(p(), q())
del globals()["made"]
print("made" in globals())
