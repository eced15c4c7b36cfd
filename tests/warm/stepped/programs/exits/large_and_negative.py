# exit: 254
import sys

sys.exit(-2)
