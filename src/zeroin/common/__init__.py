"""What both sides need: the masker of secrets, and text that is safe to show.

The driver imports this package as `zeroin.common`; the agent has it as `common` of its own
(`agent/common`), since nothing has to be installed where it runs. So: standard library only,
the syntax of Python 3.9, relative imports, and nothing at start-up that costs time.
"""
