"""What can become of a command but that it ran."""

from __future__ import annotations

from typing import Literal, cast


class ForklineError(Exception):
    """Every error of this package."""


class InputError(ForklineError):
    """A command or an option is not valid. Nothing was started."""


class NotStartedError(ForklineError):
    """Nothing was started. `errno`: the system's error; None: it is not one of the system's."""

    def __init__(self, message: str, errno: int | None = None) -> None:
        """Takes the cause."""
        super().__init__(message)
        self.errno = errno


class FarError(ForklineError):
    """The far side has answered with an error; `name` is its kind."""

    def __init__(self, name: str, message: str) -> None:
        """Takes the error's name and text."""
        super().__init__(message)
        self.name = name


class WorkerLostError(ForklineError):
    """The far side is gone, or the line to it; the command ends there, and is not run again."""

    def __init__(self, reason: str, *, started: Literal[True, "unknown"], output: str) -> None:
        """Takes the cause, whether the start was heard of, and the last output that came."""
        what = "was started" if started is True else "may have been started"
        super().__init__(f"The command {what}, and its far side was lost: {reason}")
        self.started: Literal[True, "unknown"] = started
        self.output = output


def error_from(thrown: object) -> ForklineError:
    """Returns what the far side has thrown."""
    fields = cast("dict[str, object]", thrown) if isinstance(thrown, dict) else {}
    name, message = str(fields.get("name", "Error")), str(fields.get("message", "unknown"))
    if name == "InputError":
        return InputError(message)
    if name in ("BusyError", "NoWorkerError"):
        return NotStartedError(message)
    return FarError(name, message)
