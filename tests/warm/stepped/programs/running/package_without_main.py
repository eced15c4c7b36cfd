# run: -m pkg
# exit: 1
# --- file: pkg/__init__.py
print("imported")
