"""zeroin: from "it crashed after ten minutes" to a small repro, and what broke it.

This module stays nearly empty: `zeroin --version` and every Python program that
imports the library pay for each line here.
"""

__version__ = "0.1.0"
