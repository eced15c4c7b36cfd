"""Processor seconds of a small cell in IPython, without the extension and with it, in turn."""

import sys
import time

from IPython.core.interactiveshell import InteractiveShell

CELLS = 200
SOURCE = "total = sum(range({n}))\nnames = [str(one) for one in range(20)]\nvalue_{m} = total\n"

sys.path.insert(0, sys.argv[1])
shell = InteractiveShell.instance()
best = {}
for number in range(12):
    loaded = number % 2 == 1
    shell.run_line_magic("load_ext" if loaded else "unload_ext", "zeroin")
    started = time.process_time()
    for cell in range(CELLS):
        shell.run_cell(SOURCE.format(n=cell, m=cell % 50), store_history=True)
    spent = (time.process_time() - started) / CELLS
    best[loaded] = min(spent, best.get(loaded, spent))
print(best[False], best[True])
