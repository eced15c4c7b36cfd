# options: -S
import sys

print("site" in sys.modules, __name__)
