with open(__file__) as f:
    for n, line in enumerate(f, 1):
        print(n, line.rstrip())
        if n == 2:
            break
    rest = f.readlines()
print(len(rest))
for line in open(__file__):
    if line.startswith("for"):
        print("found", line.strip())
