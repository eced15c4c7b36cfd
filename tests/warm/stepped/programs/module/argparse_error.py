# args: --num x
# exit: 2
import argparse


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num", type=int, default=1)
    args = parser.parse_args()
    print(args)


main()
