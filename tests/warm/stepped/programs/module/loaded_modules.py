# Which modules the program itself pulled in: no agent of ours may hide or add the usual ones.
import sys

before = set(sys.modules)
import json.decoder

print(sorted(m for m in set(sys.modules) - before if m.startswith("json")))
print([m for m in ("ast", "inspect", "typing", "dis", "re", "linecache", "tokenize") if m in before])
