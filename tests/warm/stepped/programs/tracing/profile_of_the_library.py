# ignore: 0x[0-9a-f]+
import cProfile
import os
import pstats


def work():
    for name in ("main.py", "no such file"):
        os.path.exists(name)
        os.path.isdir(name)
    import colorsys


profile = cProfile.Profile()
profile.enable()
work()
profile.disable()
found = sorted(
    (os.path.basename(file), name, calls[1])
    for (file, line, name), calls in pstats.Stats(profile).stats.items()
)
for entry in found:
    print(*entry)
