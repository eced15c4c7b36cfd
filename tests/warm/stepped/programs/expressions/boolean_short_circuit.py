def t(x):
    print("t", x)
    return x


print(t(0) or t("") or t("a") or t("b"))
print(t(1) and t([]) and t(2))
print(t(0) and t(1) or t(2))
a = t(1) if t(0) else t(2)
if t(0) or not t(0) and t(3):
    print("yes")
