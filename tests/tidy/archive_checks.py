# SPDX-License-Identifier: BSD-2-Clause
"""Checks that read the symbols of the static archives: the purity of base, wire and core.

readelf is used rather than nm because nm asks the LTO plugin, which shows the symbols of the
intermediate code instead of those of the machine code beside it.
"""
import re
import subprocess
from typing import NamedTuple

LIBC = {"memcpy", "memmove", "memset", "memcmp"}
# base reads text; wire and core have none to read.
TEXT = {"strlen", "strcmp", "strncmp", "strchr", "memchr"}
# What gcc and clang call for 128-bit arithmetic, bit counting and stack protection.
COMPILER = re.compile(
    r"__(u?div|u?mod|mul|ashl|ashr|lshr|popcount|clz|ctz|bswap|ffs|parity|cmp|ucmp|neg)[sdt]i[234]?$"
    r"|__udivmodti4$|__stack_chk_fail$|_GLOBAL_OFFSET_TABLE_$"
)
SANITIZER = re.compile(r"__(asan|ubsan|tsan|lsan|msan|sanitizer|odr_asan|sancov)_|__start___|__stop___")
# Names that sanitizers give to data of their own.
SANITIZER_DATA = re.compile(r"^(\*\.L|\.L|__odr_asan|__asan|__sancov|___asan|asan\.)")
# The default panic hook aborts; an adapter may bring another.
PANIC_MEMBER = "panic_abort.c.o"
BELOW = {"base": ["base"], "wire": ["base", "wire"], "core": ["base", "wire", "core"]}


class Symbol(NamedTuple):
    member: str
    name: str
    kind: str  # FUNC, OBJECT, TLS, NOTYPE, ...
    binding: str  # LOCAL, GLOBAL or WEAK
    size: int
    section: str  # name, UND, COM or ABS
    writable: bool


def _members(text):
    """Splits what readelf prints for an archive: yields (member, text)."""
    parts = re.split(r"^File: .*\(([^)]*)\)$", text, flags=re.M)
    return zip(parts[1::2], parts[2::2])


def _readelf(option, archive):
    return subprocess.run(
        ["readelf", option, "-W", archive], capture_output=True, text=True, check=True
    ).stdout


def _sections(archive):
    """member -> {section number: (name, writable)}"""
    found = {}
    for member, text in _members(_readelf("-S", archive)):
        table = found.setdefault(member, {})
        # [number] name type address offset size entry-size flags link info align
        for m in re.finditer(
            r"^\s*\[\s*(\d+)\] (\S+)\s+\S+\s+[0-9a-f]{16} \S+ \S+ \S+\s+([A-Za-z]*)\s+\d+\s",
            text,
            re.M,
        ):
            table[m[1]] = (m[2], "W" in m[3])
    return found


def symbols(archive):
    sections = _sections(archive)
    found = []
    for member, text in _members(_readelf("-s", archive)):
        for line in text.splitlines():
            field = line.split()
            if len(field) < 8 or not re.fullmatch(r"\d+:", field[0]):
                continue
            section, writable = sections[member].get(field[6], (field[6], False))
            found.append(
                Symbol(
                    member, field[7], field[3], field[4], int(field[2], 0), section, writable
                )
            )
    return found


def core_symbols(archives):
    """base, wire and core call nothing but each other, downwards, and pure functions of libc."""
    tables = {module: symbols(archives[module]) for module in BELOW}
    problems = []
    for module, below in BELOW.items():
        defined = {s.name for r in below for s in tables[r] if s.section != "UND"}
        if not any(s.kind == "FUNC" for s in tables[module]):
            problems.append(f"{archives[module]}: no function in it")
        for symbol in tables[module]:
            if symbol.section != "UND" or symbol.member == PANIC_MEMBER:
                continue
            name = symbol.name
            allowed = LIBC | TEXT if module == "base" else LIBC
            if name in allowed or name in defined or name == "mb_panic":
                continue
            if not COMPILER.match(name) and not SANITIZER.match(name):
                problems.append(f"{module}: {symbol.member} calls {name}")
    return problems


def mutable_globals(archives):
    """base, wire, core and io hold no writable data with file scope or function scope."""
    problems = []
    for module in ("base", "wire", "core", "io"):
        for symbol in symbols(archives[module]):
            relocated = symbol.section.startswith(".data.rel.ro")
            writable = symbol.writable and not relocated or symbol.section == "COM"
            if symbol.kind not in ("OBJECT", "TLS") and symbol.section != "COM":
                continue
            if writable and symbol.size and not SANITIZER_DATA.match(symbol.name):
                problems.append(
                    f"{module}: {symbol.member}: {symbol.name}, {symbol.size} bytes"
                    f" in {symbol.section}"
                )
    return problems


def _calls(archive):
    """source file -> the source files whose functions or data it refers to"""
    table = [s for s in symbols(archive) if s.binding == "GLOBAL"]
    home = {s.name: s.member for s in table if s.section != "UND"}
    calls = {member: set() for member in home.values()}
    for symbol in table:
        if symbol.section == "UND" and symbol.name in home:
            calls.setdefault(symbol.member, set()).add(home[symbol.name])
    return calls


def _reached(calls, start):
    reached, todo = set(), [start]
    while todo:
        for target in calls.get(todo.pop(), ()):
            if target not in reached:
                reached.add(target)
                todo.append(target)
    return reached


def call_cycles(archives, limits):
    """No more source files of a module call each other in a cycle than the cycle table allows."""
    problems = []
    for module, limit in limits.items():
        if module not in archives:
            problems.append(f"{module}: in the cycle table, but its archive was not given")
            continue
        calls = _calls(archives[module])
        reached = {member: _reached(calls, member) for member in calls}
        seen = set()
        for member in sorted(calls):
            if member in seen or member not in reached[member]:
                continue
            cycle = sorted(m for m in reached[member] if member in reached[m])
            seen.update(cycle)
            if len(cycle) > limit:
                names = " ".join(m.removesuffix(".o") for m in cycle)
                problems.append(f"{module}: {len(cycle)} files in a cycle, {limit} allowed: {names}")
    return problems
