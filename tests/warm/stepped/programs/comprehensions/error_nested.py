# ends: TypeError
def f():
    return [
        [
            a + b
            for b in row
        ]
        for a, row in enumerate([[1, 2], [3, "x"]])
    ]


f()
