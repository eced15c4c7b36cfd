"""`python -m zeroin` is the same as `zeroin`."""

import sys

from zeroin.fronts.cli import main

sys.exit(main())
