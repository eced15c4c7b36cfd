# The agent's own imports must not hide that the program forgot one.
import sys

before = sorted(sys.modules)
import importlib

print(hasattr(importlib, "util"), hasattr(importlib, "machinery"), hasattr(importlib, "abc"))
import concurrent
import os
import xml

print(hasattr(concurrent, "futures"), hasattr(xml, "dom"), hasattr(os, "path"))
