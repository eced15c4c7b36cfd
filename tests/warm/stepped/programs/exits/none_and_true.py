import sys

try:
    sys.exit(True)
except SystemExit as e:
    print(repr(e.code))
try:
    exit(4)
except SystemExit as e:
    print(e.code)
sys.exit()
