"""What runs inside the user's own program.

Standard library only, CPython 3.9 and newer, never prints, never imports numpy or torch.
The driver does not import this package: it puts `boot/` on PYTHONPATH, and `boot` loads
these files under the name `_zeroin_agent`, so that nothing has to be installed there.
"""
