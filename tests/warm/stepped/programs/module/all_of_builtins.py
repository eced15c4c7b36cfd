import builtins

print(sorted(vars(builtins)))
