import builtins

print(sorted(n for n in dir() if not n.startswith("__")), dir(builtins)[:10], len(dir()))
print(__builtins__ is builtins, hasattr(builtins, "print"))
