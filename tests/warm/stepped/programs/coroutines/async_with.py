import asyncio


class M:
    def __init__(self, n, suppress=False):
        self.n, self.suppress = n, suppress

    async def __aenter__(self):
        await asyncio.sleep(0)
        print("enter", self.n)
        return self.n

    async def __aexit__(self, *exc):
        await asyncio.sleep(0)
        print("exit", self.n, exc[0])
        return self.suppress


async def main():
    async with M(1) as a, M(2, True) as b:
        print(a, b)
        raise ValueError
    for i in range(3):
        async with M(f"l{i}"):
            if i == 1:
                break
            continue
    async with M(5):
        return "returned"


print(asyncio.run(main()))
