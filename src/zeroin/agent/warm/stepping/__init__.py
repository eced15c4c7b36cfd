"""A program running with hooks between its statements, and changing over to new text."""
