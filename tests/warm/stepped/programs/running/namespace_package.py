# run: -m space.mod
# --- file: space/mod.py
import space

print(__name__, __package__, list(space.__path__), space.__file__)
