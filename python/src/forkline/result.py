"""How a command ran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .messages import Capture, Process, Ran

# A status from here down is not known: the command's parent was killed, or it survived SIGKILL.
_UNKNOWN = -256


@dataclass(frozen=True)
class Result:
    """A command that ran to its end, or was ended. `receipt` is the far side's own account of it.

    With `streams="merged"`, the default, all output is in `output`; else in `stdout` and `stderr`.
    """

    receipt: Ran

    @property
    def exit_code(self) -> int | None:
        """The exit code; None when a signal ended it, or its status is not known."""
        status = self.receipt["status"]
        return status if status >= 0 else None

    @property
    def signal(self) -> int | None:
        """The number of the signal that ended it."""
        status = self.receipt["status"]
        return -status if _UNKNOWN < status < 0 else None

    @property
    def cause(self) -> Literal["itself", "timedOut", "cancelled"]:
        """What ended it."""
        return self.receipt["cause"]

    @property
    def output(self) -> str:
        """All that was kept of the output; of separate streams: stdout, then stderr."""
        return "".join(text_of(capture) for capture in self.receipt["captures"])

    @property
    def stdout(self) -> str:
        """What was kept of stdout; of merged streams: of both."""
        return text_of(self.receipt["captures"][0]) if self.receipt["captures"] else ""

    @property
    def stderr(self) -> str:
        """What was kept of stderr; of merged streams: nothing."""
        return text_of(self.receipt["captures"][1]) if len(self.receipt["captures"]) > 1 else ""

    @property
    def background(self) -> list[Process]:
        """The processes that it left running. They end with the connection."""
        return self.receipt["background"]


def text_of(capture: Capture) -> str:
    """Returns what was kept of a stream, with a line where something was left out."""
    if capture["kind"] == "complete":
        return capture["text"]
    return f"{capture['head']}\n[{capture['dropped']['bytes']} bytes left out]\n{capture['tail']}"
