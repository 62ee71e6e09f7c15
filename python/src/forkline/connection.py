"""A far side, on which commands are run; with asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType

from .errors import InputError
from .line import Line
from .options import Options
from .process import Process, open_command
from .program import far_program
from .result import Result


class Connection:
    """A far side. All that was started on it ends with it, also when this process dies."""

    def __init__(self, line: Line) -> None:
        """Takes a line; `connect()` makes one."""
        self._line = line

    @property
    def closed(self) -> str:
        """Why the line is closed; empty while it is open."""
        return self._line.closed

    async def run(
        self,
        command: str | Sequence[str],
        options: Options | None = None,
        *,
        input: str | bytes | None = None,
    ) -> Result:
        """Runs shell text, or a program and its arguments without a shell, to its end.

        Raises InputError, NotStartedError or WorkerLostError; a command that fails or is timed out
        is a Result. When the waiting task is cancelled, the command is ended first.
        """
        call = self._line.call(open_command(command, options, input is not None, None, False))
        process = Process(call, options)
        try:
            if input is not None:
                await process.feed(input.encode() if isinstance(input, str) else input)
            return await process.wait()
        except asyncio.CancelledError:
            await process.end()
            raise

    async def spawn(
        self,
        command: str | Sequence[str],
        options: Options | None = None,
        *,
        has_input: bool = False,
    ) -> Process:
        """Starts a command, and returns it once it has started; its output has to be read."""
        call = self._line.call(open_command(command, options, has_input, "bytes", True))
        process = Process(call, options)
        try:
            await process.has_started()
        except asyncio.CancelledError:
            await process.end()
            raise
        return process

    async def close(self) -> None:
        """Ends all that was started, and waits until nothing of it is left."""
        await self._line.close()

    async def __aenter__(self) -> Connection:
        """Returns itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes it."""
        await self.close()


async def connect(
    command: Sequence[str] | None = None, *, ready_s: float = 30.0, silence_s: float = 30.0
) -> Connection:
    """Starts a far side.

    `command` starts it and speaks by its stdin and stdout, as `["docker", "exec", "-i", "box",
    "forkline-far"]` does; the default is the one in this package, on this machine. `ready_s` is the
    time for its greeting, `silence_s` the longest silence while commands run.
    """
    for name, value in (("ready_s", ready_s), ("silence_s", silence_s)):
        if not 0 < value < float("inf"):
            raise InputError(f"{name}: expected seconds above 0, got {value}")
    if command is not None and (isinstance(command, str) or not command):
        raise InputError(f"command: expected a program and its arguments, got {command!r}")
    return Connection(
        await Line.open(command or [far_program(), "serve", "--stdio"], ready_s, silence_s)
    )
