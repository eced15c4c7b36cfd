# run: ./below/../main.py
# cwd: .
# ends: NameError
print(__file__)
nope
# --- file: below/x.py
