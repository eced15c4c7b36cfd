# needs: 3.10
import importlib.resources
import pkgutil

import pkg

print(importlib.resources.files("pkg").joinpath("data.txt").read_text())
print(pkgutil.get_data("pkg", "data.txt"))
print([m.name for m in pkgutil.iter_modules(pkg.__path__)])
# --- file: pkg/__init__.py
# --- file: pkg/data.txt
hello
# --- file: pkg/mod.py
x = 1
