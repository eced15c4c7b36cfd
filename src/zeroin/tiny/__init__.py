"""Tiny data, models and tokenizers.

`opening` finds out what a file holds and gives its rows; `rows` has texts that are read row by row,
`lists` a JSON list, `trees` and `documents` what is held as a whole, `arrays` numbers, `folders`
files, `foreign` what only a library reads. `sample` chooses some of the rows, `fake` and
`fake_arrays` make rows and arrays that were never there.
"""
