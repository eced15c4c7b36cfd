# exit: 1
# ends: (1, 2)
raise SystemExit((1, 2))
