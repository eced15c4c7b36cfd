#!/bin/sh
# A short debugging story, told by the product itself. `make demo` runs it, and the README
# shows what it prints. Everything happens in a folder that vanishes at the end.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_STATE_HOME="$folder/state" NO_COLOR=1
mkdir "$folder/shop"
cd "$folder/shop"
git -c init.defaultBranch=main init -q

say() { printf '\n# %s\n' "$*"; }
# Show a line as one would type it, then run it; a failing program is part of the story.
do_() {
    printf '$ %s\n' "$1"
    eval "$1" 2>&1 || :
}

cat > prices.py <<'PY'
def total(basket, prices, rate):
    amount = 0.0
    for name, count in basket.items():
        amount += prices[name] * count
    return round(amount * (1 + rate), 2)
PY
cat > report.py <<'PY'
import os

from prices import total

PRICES = {"apple": 0.5, "pear": 0.75, "plum": 0.2}


def main():
    basket = {"apple": 4, "plumm": 10}
    rate = float(os.environ.get("RATE", "0.2"))
    print("total:", total(basket, PRICES, rate))


main()
PY
# A service that times out in every third call.
cat > fetch.py <<'PY'
from pathlib import Path

calls = Path("calls.txt")


def fetch():
    number = int(calls.read_text()) + 1 if calls.exists() else 1
    calls.write_text(str(number))
    if number % 3 == 0:
        raise TimeoutError(f"no answer after {30 + number} ms")


fetch()
PY
git add -A
git -c user.name=demo -c user.email=demo@example.invalid commit -qm 'shop'

say 'It fails. The output passes through as it is, and what happened is kept.'
do_ 'zeroin run -- python report.py'

say 'With which values?'
do_ 'zeroin show'

say 'Mend the name; and try another rate while at it.'
do_ "sed -i 's/plumm/plum/' report.py"
do_ 'zeroin run --env RATE=20% -- python report.py'

say 'A new failure. Was it the code or the rate?'
do_ 'zeroin run -- python report.py'
do_ 'zeroin diff 2 3'

say 'This one fails sometimes. How often, and always in the same way?'
do_ 'zeroin run --quiet --repeat 12 -- python fetch.py 2>&1 | tail -n 2'

say 'The first attempt once more, with its code as it was; the files here stay as they are.'
do_ 'zeroin again 1 --code 2>&1 | tail -n 3'
do_ 'zeroin log -n 2'
