"""Shell commands for agents: bounded output, and nothing left running."""

from .connection import Connection, connect
from .errors import FarError, ForklineError, InputError, NotStartedError, WorkerLostError
from .options import Options
from .process import Output, Process
from .result import Result

__all__ = [
    "Connection",
    "FarError",
    "ForklineError",
    "InputError",
    "NotStartedError",
    "Options",
    "Output",
    "Process",
    "Result",
    "WorkerLostError",
    "connect",
]
