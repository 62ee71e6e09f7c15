# pyright: basic
"""Trials with random kills through inspect_ai's sandbox, and what is left of each.

python tests/harnesses/trials.py COUNT BACKEND SEED    BACKEND: forkline or local

Each trial is a harness of its own, forked. At a random time the far side or the harness is killed,
or the far side gets SIGTERM; with `local` there is only the harness to kill.
"""

import asyncio
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from inspect_ai.util._sandbox.local import LocalSandboxEnvironment

from forkline import NotStartedError, WorkerLostError
from forkline.adapters.inspect_ai import ForklineSandboxEnvironment

TEXT = "setsid sleep {s} & echo partial; sleep 0.03; echo rest; kill $!"
GONE_S = 3.0


def of_trial(mark: str) -> list[int]:
    """Returns the processes with the trial's mark in their environment, but for this one."""
    found: list[int] = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and mark.encode() in Path(f"/proc/{entry}/environ").read_bytes():
                found.append(int(entry))
        except OSError:
            continue
    return found


async def trial(backend: str, mark: str) -> str:
    """Runs one command, and says which of the three it was."""
    kind = ForklineSandboxEnvironment if backend == "forkline" else LocalSandboxEnvironment
    try:
        environments = await kind.sample_init("trial", None, {})
    except NotStartedError:
        return "not started"
    try:
        result = await environments["default"].exec(
            ["sh", "-c", TEXT.format(s=1000)], env={"TRIAL": mark}
        )
        whole = result.stdout == "partial\nrest\n" and result.success
        return "ran" if whole else f"wrong: {result}"
    except NotStartedError:
        return "not started"
    except WorkerLostError as lost:
        return "lost" if "partial\n".startswith(lost.output[:8]) else f"wrong: {lost.output!r}"
    finally:
        await kind.sample_cleanup("trial", None, environments, False)


def harness(backend: str, mark: str, end: int) -> None:
    """Is the forked harness: writes what it was."""
    try:
        said = asyncio.run(trial(backend, mark))
    except BaseException as error:
        said = f"wrong: {type(error).__name__} {error}"
    os.write(end, said.encode())
    os._exit(0)


def children(pid: int) -> list[int]:
    """Returns the processes that this one has started."""
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def strike(what: str, pid: int) -> None:
    """Kills the harness or the far side, or tells the far side to end."""
    targets = [pid] if what == "harness" else children(pid)
    number = signal.SIGTERM if what == "far told to end" else signal.SIGKILL
    for target in targets:
        try:
            os.kill(target, number)
        except ProcessLookupError:
            continue


def main() -> None:
    """Runs the trials, and prints the table's row."""
    count, backend, seed = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    rng = random.Random(seed)
    said: Counter[tuple[str, str]] = Counter()
    left, slowest = 0, 0.0
    for number in range(count):
        mark = f"trial-{os.getpid()}-{number}"
        what = (
            rng.choice(["far", "harness", "far told to end"])
            if backend == "forkline"
            else "harness"
        )
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(ours)
            harness(backend, mark, theirs)
        os.close(theirs)
        time.sleep(rng.uniform(0, 0.12))
        strike(what, pid)
        os.waitpid(pid, 0)
        answer = os.read(ours, 4096).decode() or "harness killed"
        os.close(ours)
        since = time.monotonic()
        while of_trial(mark) and time.monotonic() - since < GONE_S:
            time.sleep(0.005)
        slowest = max(slowest, time.monotonic() - since)
        alive = of_trial(mark)
        left += bool(alive)
        for one in alive:
            os.kill(one, signal.SIGKILL)
        said[what, answer] += 1
    for (what, answer), times in sorted(said.items()):
        print(f"{what:15} {answer[:90]}: {times}")
    print(
        f"{count} trials, {left} left something; the slowest was gone after {slowest * 1000:.0f} ms"
    )


if __name__ == "__main__":
    main()
