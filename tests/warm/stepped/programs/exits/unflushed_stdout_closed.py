import sys

print("one")
sys.stdout.close()
try:
    print("two")
except ValueError as error:
    print(error, file=sys.stderr)
