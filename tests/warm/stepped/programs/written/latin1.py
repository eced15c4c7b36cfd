# -*- coding: latin-1 -*-
# bytes: latin-1
# ends: ValueError
name = "Gr\xf6\xdfe ä ö ü"
print(name.encode("utf-8"), len("éè"))


def für(ä):
    raise ValueError("ü")


für(1)
