"""Train a small model of one's own, with a loop in main(): `warm_train.py torch EPOCHS`, or numpy.

On one thread: what several do on a busy machine is mostly waiting for one another.
"""

import os
import sys

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

BATCHES, SIZE, WIDTH = 40, 256, 128


def torch_model():
    import torch  # noqa: PLC0415 - only where it is wanted
    from torch import nn  # noqa: PLC0415

    torch.manual_seed(0)
    torch.set_num_threads(1)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(WIDTH, WIDTH)
            self.second = nn.Linear(WIDTH, 1)

        def forward(self, x):
            hidden = torch.relu(self.first(x))
            return self.second(hidden)

    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step():
        x = torch.randn(SIZE, WIDTH)
        loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


class Layer:
    def __init__(self, np, rng, n, m):
        self.np = np
        self.weight = rng.normal(0.0, 0.1, (n, m))
        self.x = None

    def forward(self, x):
        self.x = x
        return x @ self.weight

    def backward(self, gradient, rate):
        back = gradient @ self.weight.T
        self.weight -= rate * (self.x.T @ gradient)
        return back


def numpy_model():
    import numpy as np  # noqa: PLC0415

    rng = np.random.default_rng(0)
    first, second = Layer(np, rng, WIDTH, WIDTH), Layer(np, rng, WIDTH, 1)

    def step():
        x = rng.normal(0.0, 1.0, (SIZE, WIDTH))
        hidden = first.forward(x)
        kept = hidden > 0
        error = second.forward(hidden * kept) - x.sum(1, keepdims=True)
        back = second.backward(2 * error / SIZE, 0.001)
        first.backward(back * kept, 0.001)
        return float((error**2).mean())

    return step


def main():
    step = {"torch": torch_model, "numpy": numpy_model}[sys.argv[1]]()
    for epoch in range(int(sys.argv[2])):
        total = 0.0
        for _ in range(BATCHES):
            loss = step()
            total += loss
        print(epoch, round(total / BATCHES, 3))


main()
