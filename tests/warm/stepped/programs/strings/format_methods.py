class P:
    def __format__(self, spec):
        return f"<{spec}>"


print("{:>5}|{0!r}|{k[a]}".format("x", k={"a": 1}) if False else "{:>5}|{!r}".format("x", "y"))
print("%s %5.2f %(a)s" % {"a": 1} if False else "%s %5.2f %x" % ("s", 1.5, 255))
print(f"{P():spec}", format(P(), "z"), "{:{}}".format(3, "05d"))
import string

print(string.Template("$a ${b}").substitute(a=1, b=2))
