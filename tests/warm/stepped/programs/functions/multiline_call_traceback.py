# ends: ValueError: bad 3
def check(
    a,
    b,
):
    if a == b:
        raise ValueError(
            "bad %d"
            % (
                a,
            )
        )
    return a


def main():
    total = (
        check(1, 2)
        + check(
            2,
            1,
        )
        + check(
            3,
            3,
        )
    )
    return total


main()
