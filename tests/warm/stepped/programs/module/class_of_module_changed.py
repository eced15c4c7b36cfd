import sys
import types


class M(types.ModuleType):
    @property
    def magic(self):
        return "from property"

    def __setattr__(self, name, value):
        print("set", name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = M
me = sys.modules[__name__]
print(me.magic)
x = 1
me.y = 2
print(y)
