def f():
    a = 1
    exec("a = 2; b = 3")
    print(a)
    ns = {}
    exec("def g(x):\n    return x + a\na = 10", ns)
    print(ns["g"](1), sorted(k for k in ns if k != "__builtins__"))
    return eval("a + 1"), eval("[a for _ in range(1)][0]", {"a": 7})


print(f())
exec("new_global = 5")
print(new_global)
