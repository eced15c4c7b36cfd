import os

with open("out.txt", "w") as f:
    for i in range(3):
        print(i, file=f)
print(open("out.txt").read().split(), sorted(os.listdir(".")))
with open("out.txt", "a+") as f:
    f.seek(0)
    print(f.read(2), f.tell())
