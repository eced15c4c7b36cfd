# needs: 3.11
# ends: look at the config
def f():
    try:
        int("x")
    except ValueError as error:
        error.add_note("look at the config")
        error.add_note("two\nlines")
        raise


f()
