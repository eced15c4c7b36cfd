import asyncio


async def sleeper():
    try:
        await asyncio.sleep(100)
    except asyncio.CancelledError:
        print("cancelled")
        raise
    finally:
        print("cleanup")


async def main():
    task = asyncio.create_task(sleeper())
    await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print("seen", task.cancelled())
    try:
        await asyncio.wait_for(asyncio.sleep(100), 0.01)
    except asyncio.TimeoutError:
        print("timeout")


asyncio.run(main())
