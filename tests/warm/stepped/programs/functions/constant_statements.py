def f():
    1
    "text"
    ...
    None
    (1, 2)
    x = 1
    x
    -x
    return x


print(f())
3
"string"
