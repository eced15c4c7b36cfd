"""Releases of a package: which there are, in the order of their versions.

`pages` reads what an index says of a package, `releases` makes releases of its files.
"""
