# ignore: 0x[0-9a-f]+
a = 1
for i in range(1):
    print({k: v for k, v in globals().items() if k not in ("__builtins__",)})
print(type(__builtins__).__name__, __name__, __doc__, __package__)
