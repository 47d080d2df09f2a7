# SPDX-License-Identifier: BSD-2-Clause
"""The rows of rows.toml: what is run, and what must be true afterwards. rows.toml tells what its
keys mean; here they are read and refused when they are wrong."""
import dataclasses
import re
import tomllib


class RowsError(Exception):
    """Something in the file is wrong; the text names it."""


@dataclasses.dataclass
class Row:
    """One program with one set of flags. A family gives what its rows do not say themselves."""

    family: str
    command: str
    title: str = ""
    package: str = ""
    needs: list = dataclasses.field(default_factory=list)
    build: str = ""
    server: str = ""
    client: str = "{command}"
    env: dict = dataclasses.field(default_factory=dict)
    expect: list = dataclasses.field(default_factory=list)
    verified: str = ""
    claims: str = ""
    ways: int = 1
    bytes: int = 0
    counters: list = dataclasses.field(default_factory=lambda: ["rx_data_bytes", "ud_rx_bytes"])
    figure: list = dataclasses.field(default_factory=list)
    skip_if: list = dataclasses.field(default_factory=list)
    limit: int = 600
    bad_paths: bool = False
    essential: bool = False

    @property
    def program(self):
        return self.command.split()[0]

    @property
    def name(self):
        return f"{self.family}: {self.shown}"

    @property
    def shown(self):
        """The command without the folders of this machine."""
        return self.command.replace("{built}/", "").replace("{here}/", "")

    @property
    def wants_bytes(self):
        return bool(self.claims or self.bytes)


FIELDS = {field.name: field.type for field in dataclasses.fields(Row)}


def _check_types(where, table):
    for key, value in table.items():
        if key not in FIELDS:
            raise RowsError(f"{where}: there is no key {key!r}; there are {', '.join(FIELDS)}")
        if not isinstance(value, FIELDS[key]) or (FIELDS[key] is int and isinstance(value, bool)):
            raise RowsError(f"{where}: {key} = {value!r}: must be a {FIELDS[key].__name__}")


def _check_patterns(where, row):
    for pattern in [row.claims, *row.expect, *row.figure[:1], *row.skip_if[:1]]:
        try:
            re.compile(pattern)
        except re.error as error:
            raise RowsError(f"{where}: {pattern!r} is no regular expression: {error}") from None
    for key in ("figure", "skip_if"):
        if len(getattr(row, key)) not in (0, 2):
            raise RowsError(f"{where}: {key} must be a pattern and a text")


def _make_row(family, number, shared, table):
    where = f"{family}, row {number} ({table.get('command', 'no command')})"
    if not table.get("command"):
        raise RowsError(f"{where}: a row needs a command")
    _check_types(where, table)
    merged = {"title": family, **shared, **table, "family": family}
    merged["env"] = {**shared.get("env", {}), **table.get("env", {})}
    row = Row(**merged)
    _check_patterns(where, row)
    if not row.verified:
        raise RowsError(f"{where}: nothing says whether the program verifies data")
    return row


def _make_family(family, table):
    shared = {key: value for key, value in table.items() if key != "rows"}
    _check_types(family, shared)
    if not table.get("rows"):
        raise RowsError(f"{family}: no rows")
    return [_make_row(family, n, shared, row) for n, row in enumerate(table["rows"], 1)]


def load(path):
    """Reads a file of rows. RowsError says what is wrong in it."""
    try:
        with open(path, "rb") as file:
            data = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise RowsError(f"{path}: {error}") from None
    rows = [row for family, table in data.items() for row in _make_family(family, table)]
    names = [row.name for row in rows]
    for name in names:
        if names.count(name) > 1:
            raise RowsError(f"row {name!r} is there twice")
    if not rows:
        raise RowsError(f"{path}: no rows")
    return rows
