# run: -m mod
# --- file: mod.py
print(__cached__.rpartition("/")[2].partition(".")[0])
