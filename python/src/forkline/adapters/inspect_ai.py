# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUntypedBaseClass=false, reportUntypedClassDecorator=false
# pyright: reportUnknownParameterType=false, reportUntypedFunctionDecorator=false
"""The sandbox `forkline` of inspect_ai: each sample has a far side and a directory of its own.

Import this module, then name the sandbox: `Task(..., sandbox="forkline")`. It confines nothing:
commands run as inspect_ai's `local` runs them, and end with the sample.
"""

from __future__ import annotations

import errno
import os
import pwd
import shlex
import tempfile
from pathlib import PurePosixPath

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentLimits,
    SandboxUserUnsupportedError,
    sandboxenv,
)

from ..connection import Connection, connect
from ..errors import NotStartedError
from ..options import Options
from ..result import Result

_EXIT_OF_SIGNAL = 128
# What a shell answers for a program that is not there.
_NOT_FOUND = 127
# What the shell says of a file, by the error that the harness expects.
_ERRORS: tuple[tuple[str, int], ...] = (
    ("No such file", errno.ENOENT),
    ("Is a directory", errno.EISDIR),
    ("Permission denied", errno.EACCES),
    ("Not a directory", errno.ENOTDIR),
)


@sandboxenv(name="forkline")
class ForklineSandboxEnvironment(SandboxEnvironment):
    """A far side on this machine, with a directory that goes with it."""

    def __init__(self, far: Connection) -> None:
        """Takes the far side, which it closes."""
        super().__init__()
        self._far = far
        self._directory = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)

    @classmethod
    async def sample_init(
        cls, task_name: str, config: object, metadata: dict[str, str]
    ) -> dict[str, SandboxEnvironment]:
        """Starts the sample's far side."""
        return {"default": cls(await connect())}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: object,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Ends all that the sample has started, and removes its directory."""
        for environment in environments.values():
            await environment.as_type(cls).close()

    async def close(self) -> None:
        """Ends all that was started, then removes the directory."""
        try:
            await self._far.close()
        finally:
            self._directory.cleanup()

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Runs a command. A timeout is not tried again: the command may have had effects."""
        if user is not None and not _is_current(user):
            raise SandboxUserUnsupportedError(f"user: expected the current one, got {user!r}")
        most = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        options = Options(
            cwd=self._resolve(cwd or "."),
            env=env,
            inherit_env="all",
            streams="separate",
            timeout_ms=None if timeout is None else timeout * 1000,
            # The harness is to have the end of what is too long.
            head_bytes=0,
            tail_bytes=most,
        )
        try:
            result = await self._far.run(cmd, options, input=input)
        except NotStartedError as error:
            if error.errno == errno.EACCES:
                raise PermissionError(errno.EACCES, str(error)) from error
            if error.errno == errno.ENOENT:
                return ExecResult(False, _NOT_FOUND, "", str(error))
            raise
        if result.cause == "timedOut":
            raise TimeoutError(f"{shlex.join(cmd)}: timed out after {timeout} s")
        code = _exit_code(result)
        return ExecResult(code == 0, code, _kept(result, 0), _kept(result, 1))

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Writes a file, with the directories that it is in."""
        path = self._resolve(file)
        text = 'mkdir -p -- "$(dirname -- "$1")" && cat >"$1"'
        words = ["/bin/sh", "-c", text, "sh", path]
        options = Options(streams="separate", env={"LC_ALL": "C"})
        _check(await self._far.run(words, options, input=contents), path)

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Reads a file, as text without changing its line ends."""
        path = self._resolve(file)
        most = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE
        process = await self._far.spawn(
            ["/bin/sh", "-c", 'exec cat -- "$1"', "sh", path],
            Options(streams="separate", env={"LC_ALL": "C"}),
        )
        data = bytearray()
        async for piece in process.outputs():
            if piece.stream == "stdout":
                data += piece.data
            if len(data) > most:
                await process.end()
                limit = SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR
                raise OutputLimitExceededError(limit_str=limit, truncated_output=None)
        _check(await process.wait(), path)
        return data.decode() if text else bytes(data)

    def _resolve(self, path: str) -> str:
        return str(PurePosixPath(self._directory.name) / path)


def _exit_code(result: Result) -> int:
    if result.exit_code is not None:
        return result.exit_code
    return _EXIT_OF_SIGNAL + (result.signal or 0)


def _kept(result: Result, stream: int) -> str:
    capture = result.receipt["captures"][stream]
    return capture["text"] if capture["kind"] == "complete" else capture["tail"]


def _check(result: Result, path: str) -> None:
    if result.exit_code == 0:
        return
    for said, number in _ERRORS:
        if said in result.stderr:
            raise OSError(number, os.strerror(number), path)
    raise OSError(errno.EIO, result.stderr.strip() or "it was ended", path)


def _is_current(user: str) -> bool:
    try:
        number = int(user) if user.isdecimal() else pwd.getpwnam(user).pw_uid
    except KeyError:
        return False
    return number == os.geteuid()
