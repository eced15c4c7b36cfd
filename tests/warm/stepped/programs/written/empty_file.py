# bytes: empty
