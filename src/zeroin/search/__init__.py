"""Pure search algorithms (bisection, reduction): they ask, somebody else runs; no I/O.

A search is a tree of yes-or-no questions (`asking`). Since each of them is a value, what would be
asked next is known for either answer, and can be tried ahead on other processors (`ahead`) without
changing the result. `fewest` finds the fewest parts that are needed, `reduction` does so round by
round until nothing gets smaller.

`bisection` finds the first bad one of an ordered range; it plans for several workers by itself.
`graph` does so where commits branch and merge.
`noisy` does so where the failure shows only in some runs, and says how sure it is (`posterior`).
`culprits` finds which of some changes are needed, where many combinations can't be tested.
"""
