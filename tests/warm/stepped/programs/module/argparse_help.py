# args: --help
import argparse

parser = argparse.ArgumentParser(description=__doc__, epilog="end")
parser.add_argument("file", nargs="?")
parser.add_argument("-v", action="count")
print(parser.parse_args())
