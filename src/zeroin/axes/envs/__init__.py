"""Environments: which packages at which versions, and what of that goes with what.

`locks` reads files that list them, `needs` finds out which changes can be put back only together.
"""
