"""pgqueuer at the same work, run by a Python of its own: `install`, `fill N`, `work BATCH`, `wake`.

The database comes from PGHOST and its kin. `work` and `wake` say `ready`, then do something for each line they read."""

import asyncio
import logging
import sys
import time

import asyncpg
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries
from pgqueuer.types import QueueExecutionMode

logging.disable(logging.CRITICAL)
told: "asyncio.Queue[float]" = asyncio.Queue()


async def line() -> str:
    return await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)


async def queue(name: str) -> PgQueuer:
    made = PgQueuer(AsyncpgDriver(await asyncpg.connect()))

    @made.entrypoint(name)
    async def handle(job: Job) -> None:
        if name == "stamp":
            told.put_nowait(time.monotonic())

    return made


async def work(batch: int) -> None:
    made = await queue("nothing")
    print("ready", flush=True)
    await line()
    begun = time.monotonic()
    await made.run(batch_size=batch, mode=QueueExecutionMode.drain)
    print(begun, time.monotonic(), flush=True)


async def wake(queries: Queries) -> None:
    made = await queue("stamp")
    worker = asyncio.create_task(made.run(batch_size=10))
    await queries.enqueue("stamp", None)
    await told.get()
    await asyncio.sleep(0.5)
    print("ready", flush=True)
    while await line():
        begun = time.monotonic()
        await queries.enqueue("stamp", None)
        print(await told.get() - begun, flush=True)
    worker.cancel()


async def main(what: str, number: int) -> None:
    queries = Queries(AsyncpgDriver(await asyncpg.connect()))
    if what == "install":
        await queries.install()
    elif what == "fill":
        await queries.enqueue(["nothing"] * number, [None] * number, [0] * number)
    elif what == "work":
        await work(number)
    else:
        await wake(queries)


asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0))
