"""Writes the types of the messages, from the table that both far sides are tested against.

python scripts/generate.py          writes src/forkline/messages.py
python scripts/generate.py --print  prints it
"""

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "native/far/messages.json"
TARGET = ROOT / "python/src/forkline/messages.py"
PLAIN = {
    "text": "str",
    "whole": "int",
    "count": "int",
    "amount": "float",
    "flag": "bool",
    "object": "dict[str, Any]",
    "any": "Any",
    "null": "None",
    "true": "Literal[True]",
    "false": "Literal[False]",
}
# The calls of which this package has a face.
SUBJECTS = ("line", "command")


def type_of(text: str) -> str:
    """Returns a type of the table as Python's."""
    parts = text.split(" | ")
    if len(parts) > 1:
        return " | ".join(type_of(part) for part in parts)
    if text.endswith("[]"):
        return f"list[{type_of(text[:-2])}]"
    if text.startswith("'"):
        return f'Literal["{text[1:-1]}"]'
    if ".." in text:
        return "int"
    return PLAIN.get(text, text)


def typed_dict(name: str, doc: str, fields: dict[str, str]) -> str:
    """Returns a class; optional fields come in a base, since Python 3.10 has no NotRequired."""
    optional = {field[:-1]: kind for field, kind in fields.items() if field.endswith("?")}
    needed = {field: kind for field, kind in fields.items() if not field.endswith("?")}
    text = ""
    base = "TypedDict"
    if optional:
        base = f"_{name}Optional"
        text += f"class {base}(TypedDict, total=False):\n" + lines(optional) + "\n\n"
    text += f'class {name}({base}):\n    """{doc}"""\n'
    return text + ("\n" + lines(needed) if needed else "")


def lines(fields: dict[str, str]) -> str:
    """Returns the fields, a line each."""
    return "".join(f"    {field}: {type_of(kind)}\n" for field, kind in fields.items())


def used(shapes: dict[str, Any], texts: list[str], found: set[str]) -> set[str]:
    """Returns the shapes that these types name, and those that they name."""
    for text in texts:
        for part in text.split(" | "):
            name = part.removesuffix("[]")
            if name not in shapes or name in found:
                continue
            found.add(name)
            shape = shapes[name]
            used(shapes, [shape] if isinstance(shape, str) else list(shape.values()), found)
    return found


def generate() -> str:
    """Returns the module's text."""
    table = json.loads(TABLE.read_text())
    messages = [message for message in table["messages"] if message["of"] in SUBJECTS]
    shapes: dict[str, Any] = table["shapes"]
    wanted = used(shapes, [kind for one in messages for kind in one["fields"].values()], set())
    text = '"""The protocol\'s messages. Generated from its table by scripts/generate.py."""\n\n'
    text += "from __future__ import annotations\n\n"
    text += "from typing import Any, Literal, TypedDict, Union\n\n"
    text += f"PROTOCOL = {table['protocol']}\n"
    aliases: list[str] = []
    for name in (name for name in shapes if name in wanted):
        shape = shapes[name]
        if isinstance(shape, str):
            aliases.append(f"{name} = Union[{', '.join(shape.split(' | '))}]\n")
        else:
            text += "\n\n" + typed_dict(name, f"The shape {name}.", shape)
    for message in messages:
        if message["fields"]:
            words = f"{message['from']} {message['of']} {message['name']}".title().replace(" ", "")
            doc = f"From the {message['from']}, about a {message['of']}: {message['name']}."
            text += "\n\n" + typed_dict(f"{words}Message", doc, message["fields"])
    return text + "\n\n" + "".join(aliases)


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.write(generate())
    else:
        TARGET.write_text(generate())
