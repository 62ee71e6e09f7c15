"""A command that runs, or has run."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from .call import Call
from .errors import InputError, NotStartedError, error_from
from .messages import Process as Member
from .messages import Ran
from .options import Options
from .result import Result

_PIECE = struct.Struct(">Bd")
_STREAMS: tuple[Literal["output", "stdout", "stderr"], ...] = ("output", "stdout", "stderr")
_GRACE_MS = 5000.0
# Seconds beyond the grace after which the far side's silence about an end is taken as its loss.
_LATE_S = 10.0


@dataclass(frozen=True)
class Output:
    """A piece of output; `dropped`: bytes that were lost before it."""

    stream: Literal["output", "stdout", "stderr"]
    data: bytes
    dropped: int


class Process:
    """A command on the far side."""

    def __init__(self, call: Call, options: Options | None) -> None:
        """Takes the command's call; `spawn()` makes one."""
        self._call = call
        grace_ms = options.grace_ms if options else None
        self._grace_ms = _GRACE_MS if grace_ms is None else grace_ms

    @property
    def pid(self) -> int | None:
        """Its process id on the far side; None: it has not started."""
        started = self._call.started
        return started.result() if started.done() and not started.cancelled() else None

    async def has_started(self) -> None:
        """Waits for the start. Raises what `wait()` does when it never starts."""
        await asyncio.wait(
            [self._call.started, self._call.ended], return_when=asyncio.FIRST_COMPLETED
        )
        if self.pid is None:
            await self.wait()

    async def wait(self) -> Result:
        """Waits for the end. Raises InputError, NotStartedError or WorkerLostError."""
        body = await asyncio.shield(self._call.ended)
        if "ran" in body:
            return Result(cast(Ran, body["ran"]))
        if "failed" in body:
            failed = cast("dict[str, object]", body["failed"])
            text = f"{failed['step']} {failed['subject']}: {failed['message']}"
            raise NotStartedError(text, cast(int, failed["errno"]))
        if "error" in body:
            raise error_from(body["error"])
        raise NotStartedError("it was cancelled before it started")

    async def outputs(self) -> AsyncIterator[Output]:
        """Yields the output as it comes, until the end; the command waits for its reader."""
        call = self._call
        while call.pieces or not call.ended.done():
            if not call.pieces:
                call.stirred.clear()
                await call.stirred.wait()
                continue
            piece = call.pieces.popleft()
            number, dropped = cast("tuple[int, float]", _PIECE.unpack_from(piece))
            # A number that this side does not know is told as all output.
            stream = _STREAMS[number] if number < len(_STREAMS) else "output"
            call.consumed(len(piece))
            yield Output(stream, piece[_PIECE.size :], int(dropped))

    async def write(self, data: bytes) -> None:
        """Writes to its stdin, once that takes it. Raises BrokenPipeError when it is closed."""
        await self._call.write(data)

    def close_input(self) -> None:
        """Closes its stdin."""
        self._call.end_input()

    async def feed(self, data: bytes) -> None:
        """Writes all of its stdin and closes it; input that it does not read is no failure."""
        writing = asyncio.create_task(self._call.write(data))
        try:
            await asyncio.wait([writing, self._call.ended], return_when=asyncio.FIRST_COMPLETED)
        finally:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
        self.close_input()

    async def signal(self, name: str) -> bool:
        """Sends a signal, such as SIGINT, to the command; False: nothing was there to take it."""
        return await self._call.ask({"what": "signal", "signal": name}) is True

    async def members(self) -> list[Member]:
        """Returns the processes of the command that run now."""
        answer = await self._call.ask({"what": "members"})
        return cast("list[Member]", answer) if isinstance(answer, list) else []

    def cancel(self, grace_ms: float | None = None) -> None:
        """Asks it to end: SIGTERM, and SIGKILL after the grace. `wait()` tells how it ended."""
        self._call.cancel(grace_ms)

    async def end(self) -> None:
        """Cancels it and waits until it has ended, however that is told."""
        self.cancel()
        await asyncio.wait([self._call.ended], timeout=self._grace_ms / 1000 + _LATE_S)


def open_command(
    command: str | Sequence[str],
    options: Options | None,
    has_input: bool,
    listen: Literal["bytes"] | None,
    pause: bool,
) -> dict[str, object]:
    """Returns the message that begins a command."""
    if not isinstance(command, str) and not command:
        raise InputError("command: expected a program and its arguments, got none")
    return {
        "op": "command",
        "line": command if isinstance(command, str) else list(command),
        "options": options.plain() if options else {},
        "tellsStart": listen is not None,
        "hasInput": has_input,
        "listen": listen,
        "pause": pause,
    }
