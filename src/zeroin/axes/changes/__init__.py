"""What differs between a state that works and one that fails, as changes that can be made apart.

`choice` is some of them, as the search wants it; `align` tells rows of two versions apart. Each
kind of thing has a module: `code`, `words` of a command, `settings`, `rows` of data.
"""
