# stdin: a 1\nb 2\n\nc 3\n
import sys

total = 0
for line in sys.stdin:
    line = line.strip()
    if not line:
        continue
    key, value = line.split()
    total += int(value)
    print(key, value)
print(total)
