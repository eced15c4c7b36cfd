# run: nothing.py
# exit: 2
