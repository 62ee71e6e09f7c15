"""Puts the far side's binary into a wheel, and names the wheel after its machine."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PREBUILT = Path(__file__).resolve().parents[2] / "native/prebuilt"
MACHINES = {"x64": "x86_64", "arm64": "aarch64"}


class WheelHook(BuildHookInterface[Any]):
    """Takes the machine from FORKLINE_WHEEL; without it the wheel has no binary."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Adds the binary of this machine."""
        machine = os.environ.get("FORKLINE_WHEEL")
        if version == "editable" or not machine:
            return
        if machine not in MACHINES:
            raise ValueError(f"FORKLINE_WHEEL: expected x64 or arm64, got {machine!r}")
        binary = PREBUILT / f"far-linux-{machine}" / "forkline-far"
        if not binary.exists():
            raise FileNotFoundError(f"{binary}: build it first by `npm run build:far`")
        # The binary is static: it runs beside any libc.
        name = MACHINES[machine]
        build_data["tag"] = f"py3-none-manylinux2014_{name}.musllinux_1_1_{name}"
        build_data["pure_python"] = False
        build_data["force_include"][str(binary)] = "forkline/bin/forkline-far"
