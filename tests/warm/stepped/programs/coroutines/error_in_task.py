# ends: ValueError: in task
import asyncio


async def inner():
    await asyncio.sleep(0)
    raise ValueError("in task")


async def main():
    task = asyncio.create_task(inner())
    try:
        await task
    finally:
        print("finally")


asyncio.run(main())
