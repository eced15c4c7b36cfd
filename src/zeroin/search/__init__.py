"""Pure search algorithms (bisection, delta debugging); no I/O."""
