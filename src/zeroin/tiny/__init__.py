"""Tiny data, models and tokenizers."""
