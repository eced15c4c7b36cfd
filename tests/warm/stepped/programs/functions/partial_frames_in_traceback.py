# ends: KeyError: 'c'
import functools


def get(table, key):
    return table[key]


def each(keys, call):
    out = []
    for key in keys:
        out.append(call(key))
    return out


print(each("ab", functools.partial(get, {"a": 1, "b": 2})))
each("abc", functools.partial(get, {"a": 1, "b": 2}))
