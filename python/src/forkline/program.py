"""Where the far side's program is."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import NotStartedError


def far_program() -> str:
    """Returns the path of the static far side: FORKLINE_FAR, else the one in this package."""
    named = os.environ.get("FORKLINE_FAR")
    if named:
        return named
    own = Path(__file__).parent / "bin" / "forkline-far"
    if not own.exists():
        raise NotStartedError(
            f"expected the far side at {own}: install a wheel for this machine, or set FORKLINE_FAR"
        )
    return str(own)
