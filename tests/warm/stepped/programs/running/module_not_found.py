# run: -m nothing_like_that
# exit: 1
print("unused")
