# needs: 3.12
d = {"k": [1, 2]}
print(f"{d["k"]} {"a" + f"{"b" + f"{"c"}"}"} {'\n'.join(["x", "y"])}")
print(f"{
    d["k"][0]  # a comment
    + 1
}")
print(f'{d['k']=}')
