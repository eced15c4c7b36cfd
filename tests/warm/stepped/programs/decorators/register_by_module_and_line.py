registry = []


def register(f):
    registry.append((f.__module__, f.__qualname__, f.__code__.co_firstlineno, f.__code__.co_name))
    return f


@register
def a():
    pass


class B:
    @register
    def m(self):
        @register
        def inner(): ...

        return inner


B().m()
register(lambda: 0)
print(registry)
