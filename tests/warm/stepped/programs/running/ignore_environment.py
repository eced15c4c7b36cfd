# options: -E -s
def f():
    return sorted(locals())


print(f(), __name__)
