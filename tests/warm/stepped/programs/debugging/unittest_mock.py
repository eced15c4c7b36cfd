from unittest import mock

import lib


def main():
    with mock.patch("lib.get", return_value=5) as get:
        print(lib.use(), get.call_args_list)
    with mock.patch.object(lib, "K", 100):
        print(lib.use())
    print(lib.use())
    m = mock.MagicMock(side_effect=[1, ValueError("two")])
    print(m(), m.call_count)
    try:
        m(3)
    except ValueError as error:
        print(error, m.mock_calls)


@mock.patch("__main__.lib.get")
def patched(get):
    get.return_value = -1
    return lib.use()


main()
print(patched())
# --- file: lib.py
K = 1


def get():
    return 2


def use():
    return get() + K
