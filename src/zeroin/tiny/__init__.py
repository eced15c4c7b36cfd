"""Tiny data, models and tokenizers.

`rows` reads files of rows one by one, `sample` chooses some of them, `fake` makes rows and arrays
that were never there.
"""
