"""torch, on the CPU."""

from __future__ import annotations

from .failure import Twins, python

ATTRIBUTE = """
    import torch
    from torch import nn


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Linear(4, 4)

        def forward(self, batch):
            return self.layer1(self.stem(batch))


    def main():
        print(Net()(torch.zeros(2, 4)))


    if __name__ == "__main__":
        main()
"""

STATE = """
    from torch import nn


    def build(width):
        return nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 2))


    def restore(model, state):
        model.load_state_dict(state)


    def main():
        state = build(8).state_dict()
        restore(build(16), state)


    if __name__ == "__main__":
        main()
"""


def missing_weight(name: str) -> str:
    """Return the program that restores a state without this weight."""
    loses = f'del state["{name}"]\n        restore(build(8), state)'
    return STATE.replace("restore(build(16), state)", loses)


WORKER_STAGE = """
    import torch
    from torch.utils.data import DataLoader, Dataset


    class Photos(Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return torch.zeros(index)


    def pad(photos):
        if min(len(photo) for photo in photos) == 0:
            raise ValueError("photo without pixels")
        return photos


    def main():
        for batch in DataLoader(Photos(), batch_size=2, num_workers=1, collate_fn=pad):
            print(batch)


    if __name__ == "__main__":
        main()
"""

WORKER = """
    from torch.utils.data import DataLoader, Dataset


    class Photos(Dataset):
        rows = [{"image": 1.0}, {"image": 2.0}]

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, index):
            return self.rows[index]["label"]


    def main():
        for batch in DataLoader(Photos(), batch_size=2, num_workers=1):
            print(batch)


    if __name__ == "__main__":
        main()
"""

FAILURES = [
    python(
        "torch-shape",
        """
        import torch
        from torch import nn


        def main():
            model = nn.Sequential(nn.Linear(10, 8), nn.ReLU(), nn.Linear(12, 4))
            print(model(torch.zeros(4, 10)))


        if __name__ == "__main__":
            main()
        """,
        "cannot be multiplied",
        needs=("torch",),
    ),
    python("torch-state-size", STATE, "size mismatch", needs=("torch",)),
    python("torch-state-missing-2", missing_weight("2.bias"), "2.bias", needs=("torch",)),
    python("torch-state-missing-0", missing_weight("0.bias"), "0.bias", needs=("torch",)),
    python("torch-attribute-layer1", ATTRIBUTE, "layer1", needs=("torch",)),
    python(
        "torch-attribute-layer2", ATTRIBUTE.replace("layer1", "layer2"), "layer2", needs=("torch",)
    ),
    python(
        "torch-backward-twice",
        """
        import torch


        def step(loss):
            loss.backward()


        def main():
            weights = torch.ones(3, requires_grad=True)
            loss = (weights * weights).sum()
            step(loss)
            step(loss)


        if __name__ == "__main__":
            main()
        """,
        "second time",
        needs=("torch",),
    ),
    python("torch-worker-label", WORKER, "label", needs=("torch",)),
    python(
        "torch-worker-caption", WORKER.replace('"label"', '"caption"'), "caption", needs=("torch",)
    ),
    python("torch-worker-collate", WORKER_STAGE, "ValueError", needs=("torch",)),
    python(
        "torch-worker-item",
        WORKER_STAGE.replace(
            "            return torch.zeros(index)",
            '            raise ValueError("photo without pixels")',
        ),
        "ValueError",
        needs=("torch",),
    ),
    python(
        "torch-worker-any",
        """
        from torch.utils.data import DataLoader, Dataset

        SIZES = {"cat": 3, "dog": 4, "owl": 5}


        class Animals(Dataset):
            names = list({"cat", "dog", "owl", "fox"})

            def __len__(self):
                return len(self.names)

            def __getitem__(self, index):
                return SIZES[self.names[index]]


        def main():
            for batch in DataLoader(Animals(), num_workers=2):
                print(batch)


        if __name__ == "__main__":
            main()
        """,
        "fox",
        needs=("torch",),
        varies=r"worker process \d",
    ),
    python(
        "torch-worker-killed",
        """
        import os
        import signal

        from torch.utils.data import DataLoader, Dataset


        class Movies(Dataset):
            def __len__(self):
                return 4

            def __getitem__(self, index):
                os.kill(os.getpid(), signal.SIGKILL)


        def main():
            for batch in DataLoader(Movies(), num_workers=1, timeout=100):
                print(batch)


        if __name__ == "__main__":
            main()
        """,
        "RuntimeError",
        needs=("torch",),
        varies=r"pid\(?s?\)? ?\S+",
    ),
    python(
        "torch-embedding",
        """
        import torch
        from torch import nn


        def embed(tokens):
            return nn.Embedding(100, 8)(tokens)


        def main():
            print(embed(torch.tensor([3, 120])).shape)


        if __name__ == "__main__":
            main()
        """,
        "index out of range",
        needs=("torch",),
    ),
    python(
        "torch-in-place",
        """
        import torch


        def normalise(values):
            values /= values.sum()
            return values


        def main():
            weights = torch.rand(3, requires_grad=True)
            shares = weights.exp()
            normalise(shares).max().backward()


        if __name__ == "__main__":
            main()
        """,
        "inplace operation",
        needs=("torch",),
    ),
    python(
        "torch-dtype",
        """
        import torch
        from torch import nn


        def predict(model, rows):
            return model(torch.tensor(rows))


        def main():
            print(predict(nn.Linear(2, 1), [[1, 2], [3, 4]]))


        if __name__ == "__main__":
            main()
        """,
        "dtype",
        needs=("torch",),
    ),
    python(
        "torch-target",
        """
        import torch
        from torch.nn import functional


        def loss_of(scores, labels):
            return functional.cross_entropy(scores, labels)


        def main():
            print(loss_of(torch.zeros(2, 5), torch.tensor([1, 7])))


        if __name__ == "__main__":
            main()
        """,
        "out of bounds",
        needs=("torch",),
    ),
    python(
        "torch-load-damaged",
        """
        import tempfile

        import torch


        def restore(path):
            return torch.load(path)


        def main():
            with tempfile.NamedTemporaryFile(suffix=".pt") as stream:
                torch.save({"weights": torch.zeros(100)}, stream.name)
                stream.truncate(200)
                print(restore(stream.name))


        if __name__ == "__main__":
            main()
        """,
        "RuntimeError",
        needs=("torch",),
    ),
]

TWINS = [
    Twins("torch-state-size", "torch-state-missing-2", "a size differs; a weight is missing"),
    Twins("torch-state-missing-0", "torch-state-missing-2", "another weight is missing"),
    Twins("torch-attribute-layer1", "torch-attribute-layer2", "another layer is missing"),
    Twins("torch-worker-item", "torch-worker-collate", "another function fails in the worker"),
    Twins("torch-worker-label", "torch-worker-caption", "another key is missing in the worker"),
]
