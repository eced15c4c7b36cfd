"""Which shapes a program's variables have, seen while it runs, for `zeroin shapes`.

`change` puts a look beside each assignment of the wanted code, `places` keeps what each look has
seen, `kinds` reads the shape of any value, `start` ties them together and writes down what is new.

A *place* is one target in the source: a variable of one assignment, an argument, what a function
gives back. A *form* is what was seen there, without the value: shape, type and device of an array,
or how a container is made up of such.
"""
