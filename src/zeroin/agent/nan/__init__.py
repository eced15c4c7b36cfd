"""The first operation that made NaN or inf which mattered, found while the program runs.

Every torch operation passes through a mode (`mode`), forward, backward and inside optimizers.
The words:
- an *origin* is an operation whose inputs were finite and whose output was not; or data that
  was not finite when it came in, or memory that nobody had written to;
- a *trail* leads from each tensor that is not finite back to its origin, by its storage;
- an origin is *told* once it matters: when it has reached the loss that `backward` is called
  on, a gradient that an optimizer is about to use, a weight; or at the end, when something
  read it. What `torch.where` or `nan_to_num` took away again is no finding, nor is a mask of
  -inf; but NaN made of that mask is.

`start` hangs in, `plans` says what is to be looked at in each operation, `tensors` looks at
tensors, `origins` keeps the trails, `causes` finds words, `training` follows modules and
optimizers, `places` knows lines of code, `report` puts it all together, `arrays` is for numpy,
`jitted` for jax.
"""
