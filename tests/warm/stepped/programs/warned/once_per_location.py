import warnings


def f():
    warnings.warn("same")


for i in range(3):
    f()
    warnings.warn("loop")
f()
f()
print(sorted(k[0] if isinstance(k, tuple) else k for k in __warningregistry__))
