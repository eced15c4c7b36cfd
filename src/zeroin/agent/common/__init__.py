"""The agent's door to what it shares with the driver: the modules of `zeroin/common`.

The agent is loaded as `_zeroin_agent`, without the package around it, so it can't say `..common`.
This package has the other room's files: `from .common import secrets`.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.common import names as names
    from zeroin.common import secrets as secrets
    from zeroin.common import terminal as terminal

_here = os.path.dirname(os.path.abspath(__file__))
__path__ = [os.path.join(os.path.dirname(os.path.dirname(_here)), "common")]
