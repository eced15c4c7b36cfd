def f(a):
    return [sorted(k for k in [1]) for _ in range(1)], {k: k for k in sorted(locals())}


print(f(1))
print([n for n in ["x"] if n not in locals()])
