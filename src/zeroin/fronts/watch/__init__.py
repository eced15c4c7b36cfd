"""How `watch` is shown: a screen that is painted over, plain lines, JSON, CSV."""
