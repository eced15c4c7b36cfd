from pkg.a import one
from pkg.sub import two

print(one(), two())
# --- file: pkg/__init__.py
# --- file: pkg/a.py
from .b import base
from .sub.deep import d


def one():
    return base + d
# --- file: pkg/b.py
base = 10
# --- file: pkg/sub/__init__.py
from .deep import d
from ..b import base


def two():
    return d * base
# --- file: pkg/sub/deep.py
d = 5
