# ends: ValueError


def f():

    # comment

    x = 1


    # more

    raise ValueError(x)  # here

# between


f()


# the end
