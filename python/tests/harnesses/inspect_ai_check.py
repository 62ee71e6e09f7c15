# pyright: basic
# ruff: noqa: F403
"""inspect_ai's own conformance suite, from its package: over forkline, or over its `local`.

FORKLINE_BACKEND=local pytest tests/harnesses/inspect_ai_check.py
"""

import os
from collections.abc import AsyncIterator

import pytest_asyncio
from inspect_ai.util import SandboxEnvironment
from inspect_ai.util._sandbox.local import LocalSandboxEnvironment
from inspect_ai.util._sandbox.self_check import *

from forkline.adapters.inspect_ai import ForklineSandboxEnvironment


@pytest_asyncio.fixture
async def sandbox_env() -> AsyncIterator[SandboxEnvironment]:
    local = os.environ.get("FORKLINE_BACKEND") == "local"
    kind = LocalSandboxEnvironment if local else ForklineSandboxEnvironment
    environments = await kind.sample_init("check", None, {})
    yield environments["default"]
    await kind.sample_cleanup("check", None, environments, False)
