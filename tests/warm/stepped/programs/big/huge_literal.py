table = [
    # one entry per line
    *[(i, str(i)) for i in range(50)],
]
data = {
    "a": [1, 2, 3, {"b": (4, 5, 6, [7, 8, {9, 10}])}],
    "c": "x" * 3,
    **{str(i): i for i in range(20)},
}
print(len(table), len(data), data["a"][3]["b"][3][2])
print(eval("[" + ",".join(map(str, range(5000))) + "]")[-1])
print(eval("(" * 80 + "1" + ")" * 80))
