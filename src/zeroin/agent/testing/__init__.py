"""`pytest --zeroin`: what failed with which values, what each test cost, how often it fails.

`entry` is what pytest loads at each start and has only the options; `plugin` does the work
when one of them was given. It runs in the user's interpreter, with nothing of ours installed
there under `zeroin run`, so that it can't know the record: `entry.make_recorder` is set by
whoever does, and under `zeroin run` each failing test is told to the driver.
"""
