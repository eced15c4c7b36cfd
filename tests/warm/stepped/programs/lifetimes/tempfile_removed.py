import os
import tempfile


def f():
    with tempfile.NamedTemporaryFile() as t:
        t.write(b"x")
        name = t.name
        print(os.path.exists(name))
    print(os.path.exists(name))
    d = tempfile.TemporaryDirectory()
    name = d.name
    d.cleanup()
    print(os.path.exists(name))


f()
