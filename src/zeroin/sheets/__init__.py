"""Cheatsheets, aliases, one-liners and rc files."""
