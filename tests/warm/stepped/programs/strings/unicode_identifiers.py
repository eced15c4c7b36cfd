# ends: ValueError: ошибка
größe = 3
π = 3.14
变量 = [größe, π]


class Größe:
    def wert(self, ä=1):
        ñ = ä + größe
        return ñ


def функция(x):
    raise ValueError("ошибка")


print(变量, Größe().wert(), ﬁx if "ﬁx" in globals() else "no", sorted(k for k in globals() if not k.startswith("_")))
функция(变量)
