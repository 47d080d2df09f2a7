# SPDX-License-Identifier: BSD-2-Clause
"""docs/compatibility.md, made from rows.toml and last_run.json, which a whole run leaves."""
import json
import os
import pathlib
import platform

FOREIGN = pathlib.Path(__file__).resolve().parent / "last_foreign.json"

HEAD = """# Which programs ran

Real, unmodified programs of Debian over softmrc's `libibverbs.so.1`, as the last whole run left them. `make compat` runs all of it and
writes this page; `make check` runs the rows with a `*`. [programs.md](programs.md) tells how to run a program of your own.

Server and client, or all ranks, are processes of one machine and meet on loopback, over two planes
(`MRC_PORTS=127.0.0.1,127.0.1.1`). A row counts as `ok` if all its processes ended by themselves with status 0 and wrote what they should,
and if softmrc's own counters of payload placed cover the bytes that the program claims to have moved, both of which are
shown. Figures are what the programs print; on a machine with few cores they say little beyond that they are there.

"""

LAB_HEAD = """## On a fabric that breaks

The same between two hosts of a lab ([lab.md](lab.md)): two planes on the kernel's SRv6. While the program runs one plane dies and comes back,
then a T1 of the other plane reboots. Beyond what is asked above, the program must have run through all of it, and EVs must have been retired and
revived.
"""


FOREIGN_HEAD = """## Programs written for MRC

What others wrote on `mrc.h`, built from their sources outside of the tree and run between two hosts with four planes, and on a lab. Nothing of theirs is
in softmrc; `tools/foreign CHECKOUT` does this again for a checkout of the plugin, and for one of the shim if its own build files do. The shim was tried from a shortened
copy of its newest published sources (no checks, debug output or vendors' parts; build files of our own), so this says nothing of its own build.
"""


NCCL_HEAD = """## NCCL's own transport

The transport over verbs of NVIDIA's NCCL, from its sources, with the functions by which the rest of NCCL calls it; driven over softmrc's `libibverbs.so.1` by the same harness, between two hosts
with four planes and on a lab, without a GPU. `tools/foreign CHECKOUT` does this again for a checkout of NCCL of one of these versions ([programs.md](programs.md#nccl-and-pytorch)).
"""


def size(n):
    """Bytes as a person writes them."""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if n >= unit:
            return f"{n / unit:.1f} {name}"
    return f"{n} B"


def machine():
    """The machine in words."""
    return f"{os.cpu_count()} cores, Linux {'.'.join(platform.release().split('.')[:2])}, {_debian()}"


def _debian():
    try:
        with open("/etc/debian_version") as file:
            return f"Debian {file.read().strip()}"
    except OSError:
        return "not Debian"


def save(results, path):
    """Keeps what the page needs of the results of a whole run."""
    keys = ("name", "state", "reason", "figure", "claimed_bytes", "placed_bytes", "processes", "version")
    kept = [{key: getattr(result, key) for key in keys} for result in results]
    with open(path, "w") as file:
        json.dump({"machine": machine(), "rows": kept}, file, indent=1)
        file.write("\n")


def _escape(text):
    return text.replace("|", "\\|")


def _line(row, result):
    bytes_text = f"{size(result['placed_bytes'])} / {size(result['claimed_bytes'])}" \
        if result["claimed_bytes"] else ""
    state = result["state"]
    if result["reason"]:
        state += ": " + result["reason"].splitlines()[0]
    cells = [f"`{row.shown}`{' *' if row.essential else ''}", state, result["figure"], bytes_text]
    return "| " + " | ".join(_escape(cell) for cell in cells) + " |"


def _section(title, rows, results):
    versions = sorted({f"{row.package} {results[row.name]['version'] or 'not installed'}" for row in rows})
    lines = [f"## {title}", "", ", ".join(versions) + ".", ""]
    for env in {json.dumps(row.env, sort_keys=True): row.env for row in rows}.values():
        if env:
            words = " ".join(f"{name}={value}" for name, value in env.items())
            lines += [f"With `{words}`.", ""]
    lines.append("Who compares the data: " + "; ".join(dict.fromkeys(row.verified for row in rows)) + ".")
    lines += ["", "| command | result | figure | placed / claimed |", "|---|---|---|---|"]
    return lines + [_line(row, results[row.name]) for row in rows] + [""]


def _read(path):
    """The machine of a saved run, and its results by name."""
    with open(path) as file:
        saved = json.load(file)
    return saved["machine"], {result["name"]: result for result in saved["rows"]}


def _count(rows, results, where):
    count = {}
    for row in rows:
        count[results[row.name]["state"]] = count.get(results[row.name]["state"], 0) + 1
    return [", ".join(f"{n} {state}" for state, n in sorted(count.items())) + f", on {where}.", ""]


def _lab_section(rows, path):
    where, results = _read(path)
    lines = [LAB_HEAD, *_count(rows, results, where)]
    lines += ["| command | result | figure | placed / claimed |", "|---|---|---|---|"]
    return lines + [_line(row, results[row.name]) for row in rows] + [""]


def foreign():
    """What tools/foreign kept, by program and version."""
    return json.loads(FOREIGN.read_text()) if FOREIGN.exists() else {}


def save_foreign(kept):
    """Keeps a whole run of a program that others wrote, beside those of its other versions."""
    key = f"{kept['program']} {kept['version']}"
    FOREIGN.write_text(json.dumps(foreign() | {key: kept}, indent=1, sort_keys=True) + "\n")


def _foreign_tables(head, runs):
    lines = []
    for kept in runs:
        lines += [f"{kept['program']} {kept['version']}, {kept['commit']}; {kept['machine']}.", ""]
        lines += ["| case | result | |", "|---|---|---|"]
        lines += ["| " + " | ".join(_escape(r[key]) for key in ("case", "state", "text")) + " |" for r in kept["cases"]]
        lines.append("")
    return [head, *lines] if lines else []


def _foreign_section():
    runs = [kept for _, kept in sorted(foreign().items())]
    return [*_foreign_tables(FOREIGN_HEAD, [kept for kept in runs if kept["program"] != "nccl"]),
            *_foreign_tables(NCCL_HEAD, [kept for kept in runs if kept["program"] == "nccl"])]


def page(rows, path, lab_rows, lab_path):
    """The page as text; KeyError names a row that the last whole run did not have."""
    where, results = _read(path)
    lines = _count(rows, results, where)
    for title in dict.fromkeys(row.title for row in rows):
        lines += _section(title, [row for row in rows if row.title == title], results)
    lines += _lab_section(lab_rows, lab_path) + _foreign_section()
    return HEAD + "\n".join(lines).rstrip() + "\n"
