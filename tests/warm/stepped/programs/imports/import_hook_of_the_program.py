import importlib.abc
import importlib.util
import sys


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.startswith("virtual_"):
            return importlib.util.spec_from_loader(name, self)

    def exec_module(self, module):
        exec("def f():\n    return __name__", module.__dict__)


sys.meta_path.insert(0, Finder())
import virtual_one

print(virtual_one.f(), virtual_one.__spec__.loader.__class__.__name__)
