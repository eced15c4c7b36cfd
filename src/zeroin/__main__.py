"""`python -m zeroin` is the same as `zeroin`."""

from zeroin.fronts.cli import enter

enter()
