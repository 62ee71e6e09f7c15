import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

from forkline import Options
from forkline.options import camel

ROOT = Path(__file__).parents[2]


def test_types_are_those_of_the_table() -> None:
    script = ROOT / "python/scripts/generate.py"
    printed = subprocess.run([sys.executable, script, "--print"], capture_output=True, check=True)
    assert printed.stdout.decode() == (ROOT / "python/src/forkline/messages.py").read_text()


def test_options_are_those_of_the_table() -> None:
    table: dict[str, str] = json.loads((ROOT / "native/far/options.json").read_text())
    assert {camel(field.name) for field in fields(Options)} == set(table)
