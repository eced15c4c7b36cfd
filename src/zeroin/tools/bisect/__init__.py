"""`bisect`: name the one change that broke it.

What varies is an *axis*: commits, releases, environments, settings. `ends` looks at both ends and
learns which failure is meant, `ordered` searches where there is an order, `combined` where any of
several changes may be at fault, alone or together. `pool` runs the tries, several at once.
"""
