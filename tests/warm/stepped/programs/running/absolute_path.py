# run: {folder}/main.py
# ends: ValueError
import sys

print(__file__, sys.argv[0], sys.path[0])
raise ValueError
