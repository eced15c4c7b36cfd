"""The objects of another process, read from its memory by its own interpreter.

What a program's tasks wait for only the program knows, and one that zeroin did not start has
nobody in it to ask. Its objects lie in its memory, though, and the interpreter that made them can
be started a second time: there, where each object and each of its fields is known, we look where
the fields lie (`layout`), and then read the same places in the other process. Nothing is stopped,
changed or run there. What is found is believed only if it is of the type that it must be.

These files import only each other, in the order of `FILES`: the driver sends their text to that
interpreter, whose user may not be able to read them (`observe/stacks/afar.py`).
"""

FILES = ("memory", "image", "layout", "objects", "tasks", "report")
