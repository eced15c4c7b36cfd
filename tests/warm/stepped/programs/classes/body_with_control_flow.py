class A:
    names = []
    for i in range(3):
        names.append(i)
        if i == 1:
            continue
        exec(f"x{i} = {i}")
    else:
        done = True
    if names:
        kind = "full"
    else:
        kind = "empty"
    try:
        1 / 0
    except ZeroDivisionError as error:
        message = str(error)
    with open(__file__) as f:
        first = f.readline().strip()
    while len(names) < 5:
        names.append(len(names))
    del f
    print("in body", sorted(k for k in locals() if not k.startswith("__")))


print(A.names, A.done, A.kind, A.message, A.i, A.first)
print([k for k in vars(A) if not k.startswith("__")])
