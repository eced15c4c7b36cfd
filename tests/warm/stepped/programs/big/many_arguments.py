def f(*args, **kw):
    return len(args), len(kw)


print(f(*range(300), **{f"k{i}": i for i in range(300)}))
print(eval("f(" + ",".join(map(str, range(300))) + ")"))
with open("lib.py", "w") as h:
    h.write("def g(" + ", ".join(f"a{i}={i}" for i in range(300)) + "):\n    s = a0 + a299\n    return s\n")
import lib

print(lib.g(), lib.g(1, a299=0))
