# stdin: b 9\nc\np locals()\nw\ncl 1\nb f\nc\nw\nq\n
# exit: 1
import pdb


def f(n):
    m = n
    m += 1
    return m


pdb.set_trace()
for k in range(4):
    f(k)
print("end")
