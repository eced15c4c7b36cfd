# args: --flag "two words" -x=1
import sys

print(sys.argv, sys.orig_argv[1:] if hasattr(sys, "orig_argv") else "", sys.flags.interactive)
print(sys.path[0], sys.path[1:2])
