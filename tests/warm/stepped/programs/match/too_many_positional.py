# needs: 3.10
# ends: TypeError
class A:
    __match_args__ = ("x",)
    x = 1


match A():
    case A(1):
        print("ok")
match A():
    case A(1, 2):
        print("no")
