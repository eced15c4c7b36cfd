# stdin: 0123456789\n
import os
import sys

print(os.read(0, 3), os.lseek(0, 0, os.SEEK_CUR))
print(sys.stdin.read())
print(sys.stdin.isatty(), sys.stdout.line_buffering, sys.stdout.encoding, sys.stderr.errors)
