import os
from pathlib import Path

import pytest

FAR = Path(__file__).parents[2] / "native/prebuilt/far-linux-x64/forkline-far"


@pytest.fixture(autouse=True)
def far(monkeypatch: pytest.MonkeyPatch) -> None:
    if "FORKLINE_FAR" not in os.environ:
        monkeypatch.setenv("FORKLINE_FAR", str(FAR))
