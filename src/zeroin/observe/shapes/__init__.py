"""Shapes beside the source: forms, their names and their text, and comments that hold them.

`told` reads what the agents have written down, `forms` joins it, `names` finds what the program
calls its sizes, `text` says a form in one line and reads it back, `comments` puts such lines into a
source and takes them out, `check` compares what they say with what was seen.
"""
