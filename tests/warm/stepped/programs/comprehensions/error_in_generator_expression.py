# ends: KeyError: 'b'
def f(d):
    return sum(d[k] for k in "ab")


f({"a": 1})
