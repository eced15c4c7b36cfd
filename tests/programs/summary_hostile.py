"""Objects that answer every question with code: none of it may run in this process."""

import time
import types

import summary_harness as harness

CALLED = []  # in this process; what a child does stays in the child

NAMES = """
    __bool__ __bytes__ __call__ __class_getitem__ __complex__ __contains__ __copy__ __deepcopy__
    __delitem__ __dir__ __enter__ __eq__ __float__ __format__ __fspath__ __ge__ __getattr__
    __getitem__ __getstate__ __gt__ __hash__ __index__ __int__ __iter__ __le__ __len__
    __length_hint__ __lt__ __ne__ __next__ __reduce__ __reduce_ex__ __reversed__ __set_name__
    __sizeof__ __str__ __trunc__ get items keys values copy index count pop read args decode
    encode bit_length
"""


def hostile(name):
    """Make a method that notes the call, then never ends."""

    def method(*_, **__):
        CALLED.append(name)
        time.sleep(60)
        raise KeyboardInterrupt

    return method


def lying_class(_):
    """Stand in for `__class__`, which isinstance() asks."""
    CALLED.append("__class__")
    raise KeyboardInterrupt


METHODS = {name: hostile(name) for name in NAMES.split()}
LIES = {"__class__": property(lying_class), "__dict__": property(hostile("__dict__"))}


def looked_up(self, name):
    """Stand in for `__getattribute__`."""
    CALLED.append(f"looked up {name}")
    raise KeyboardInterrupt


class Meta(type):
    """A metaclass that answers for its classes."""

    __hash__ = None

    def __getattribute__(cls, name):
        CALLED.append(f"class asked for {name}")
        raise KeyboardInterrupt

    __name__ = property(hostile("__name__"))
    __mro__ = property(hostile("__mro__"))
    __repr__ = __str__ = hostile("class repr")
    __eq__ = hostile("class ==")
    __instancecheck__ = hostile("isinstance")
    __subclasscheck__ = hostile("issubclass")
    __len__ = __bool__ = __iter__ = hostile("class len")


def make(name, *bases, **members):
    """Make a class with every method hostile, but for construction and repr."""
    plain = {"__getattribute__": looked_up, **METHODS, **LIES, **members}
    return type(name, bases, plain)


Everything = make("Everything")
Metaclassed = types.new_class("Metaclassed", (), {"metaclass": Meta})
MetaList = types.new_class("MetaList", (list,), {"metaclass": Meta})


class SlotsAndProperty:
    __slots__ = ("kept",)
    computed = property(hostile("property"))

    def __init__(self):
        self.kept = 1


class Proxy:
    """Pretends to be a dict, as wrapt's and werkzeug's proxies do."""

    __class__ = dict  # type: ignore[assignment]


class FromJax:
    """Claims to be an array of jax's."""

    __module__ = "jax"
    shape = property(hostile("shape"))
    dtype = property(hostile("dtype"))


class FromNumpy(FromJax):
    __module__ = "numpy"


class FromTorch(FromJax):
    __module__ = "torch"


class NameOfClass(str):
    """A text with methods of its own, as the name of a class."""

    __slots__ = ()
    __str__ = __repr__ = __format__ = __len__ = __add__ = __eq__ = hostile("name")
    __hash__ = str.__hash__


class Renamed:
    pass


Renamed.__name__ = NameOfClass("New\nname")


class KeyText(str):
    __slots__ = ()
    __hash__ = str.__hash__
    __eq__ = hostile("key ==")
    __repr__ = hostile("key repr")


def hostile_dict():
    made = make("Mapping", dict)()
    dict.__setitem__(made, "a", 1)
    dict.__setitem__(made, KeyText("b"), Everything())
    return made


def with_attributes():
    holder = Renamed()
    holder.inner = Everything()
    holder.items = hostile_dict()
    return holder


class Lazy(types.ModuleType):
    def __getattribute__(self, name):
        CALLED.append(f"module asked for {name}")
        raise KeyboardInterrupt


class Error(Exception):
    __str__ = __repr__ = hostile("error")
    args = property(hostile("args"))


list_of_them = make("List", list)
VALUES = {
    "everything": Everything(),
    "class": Everything,
    "metaclass": object.__new__(Metaclassed),
    "class of metaclass": Metaclassed,
    "list of metaclass": list.__new__(MetaList),
    "property": SlotsAndProperty(),
    "proxy": Proxy(),
    "from jax": FromJax(),
    "from numpy": FromNumpy(),
    "from torch": FromTorch(),
    "renamed": Renamed(),
    "holder": with_attributes(),
    "dict": hostile_dict(),
    "list": list_of_them([1, Everything()]),
    "tuple": make("Tuple", tuple)((1, 2)),
    "set": make("Set", set)([1]),
    "int": make("Int", int)(7),
    "float": make("Float", float)(1.5),
    "str": make("Str", str)("abc"),
    "bytes": make("Bytes", bytes)(b"abc"),
    "module": Lazy("lazy"),
    "error": Error("bad"),
    "bound": types.MethodType(Everything(), Everything()),
    "secret": {KeyText("password"): "x", "token": make("Token", str)("secret-text")},
}

for name, value in VALUES.items():
    harness.tell(name, value)
harness.tell_all("all", list(VALUES.items()))
harness.finish(called=CALLED)
