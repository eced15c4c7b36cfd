# ends: TypeError
def f(d):
    value = d["a"]["b"][0] + d["a"]["c"]["x"]["y"]
    return value


def g():
    return f({"a": {"b": [1], "c": {"x": None}}})


g()
