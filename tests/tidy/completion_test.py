# SPDX-License-Identifier: BSD-2-Clause
"""completion_test.py MRC: what bash completes with the script of `mrc completion bash`, and zsh's."""
import functools
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import run
import tap
import verbs
from tree import Skip

MRC = sys.argv[1] if len(sys.argv) > 1 else ""


@functools.cache
def bash_script():
    return verbs.output(MRC, "completion", "bash")


@functools.cache
def every_verb():
    return verbs.read(MRC)


def complete(*words, before=""):
    """What bash offers for the last of some words; bash itself splits words at an equals sign."""
    script = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
complete -p mrc >/dev/null && _mrc && printf '%s\\n' "${COMPREPLY[@]}"
"""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "completion")
        source.write_text(bash_script(), encoding="utf-8")
        files = pathlib.Path(folder, "files")
        (files / "folder").mkdir(parents=True)
        (files / "mine.toml").touch()
        text = verbs.output(
            "bash", "--norc", "-c", before + script, "bash", str(source), "mrc", *words, cwd=files
        )
    return text.split()


def want(words, offered, exactly=True, before=""):
    """A problem unless bash offers these, and with `exactly` nothing else."""
    got = complete(*words, before=before)
    if sorted(got) == sorted(offered) or (not exactly and set(offered) <= set(got)):
        return []
    return [f"mrc {shlex.join(words)}: offered {got}, not {offered}"]


def bash_completes_every_verb_and_flag():
    problems = []
    every = every_verb()
    if len(every) < 25:
        return [f"found {sorted(every)} only"]
    for verb, flags in every.items():
        below = {v.split()[-1] for v in every if v and v.rpartition(" ")[0] == verb}
        problems += want([*verb.split(), "--"], flags or ["--help"])
        if below:
            problems += want([*verb.split(), ""], below, exactly=False)
    return problems


def bash_completes_values():
    presets = ["tiny", "lab", "lab8", "pod", "paper", "paper4", "threetier"]
    scenarios = [p.stem for p in (run.ROOT / "src/sim/scenario/presets").glob("inc*.toml")]
    lab = [p.stem for p in (run.ROOT / "lab/scenarios").glob("*.toml")]
    rows = (
        (["si"], ["sim"]),
        (["plan", "--trim", ""], ["symmetric", "asymmetric"]),
        (["plan", "--trim", "=", "a"], ["asymmetric"]),
        (["plan", "--trim", "="], ["symmetric", "asymmetric"]),
        (["plan", "lab", "--emit", "s"], ["softmrc", "sonic", "svg"]),
        (["plan", "lab", "--against", "pa"], ["paper", "paper4"]),
        (["plan", "diff", "--dir", ""], ["folder"]),
        (["demo", "--on", ""], ["lab", "rootless", "loopback"]),
        (["lab", "fault", "lab", "host0", "st"], ["stall"]),
        (["lab", "up", ""], presets + ["folder", "mine.toml"]),
        (["lab", "run", ""], lab + ["folder", "mine.toml"]),
        (["sim", "run", "inc"], scenarios),
        (["sim", "run", "./m"], ["./mine.toml"]),
        (["sim", "run", "--flows", "m"], ["mine.toml"]),
        (["sim", "run", "--json", "=", "mi"], ["mine.toml"]),
        (["sim", "run", "--seed", ""], []),
        (["sim", "run", "--set", "mrc.ev"],
         ["mrc.evs=", "mrc.evs_active=", "mrc.evs_ordered=", "mrc.ev_feedback=", "mrc.ev_probes="]),
        (["sim", "sweep", "--set", "workload.0.by"], ["workload.0.bytes="]),
        (["sim", "figure", "9"], ["9a", "9b", "9c", "9d"]),
        (["completion", ""], ["bash", "zsh"]),
        (["help", "to"], ["top"]),
    )
    return [line for words, offered in rows for line in want(words, offered)]


def bash_completes_labs():
    """Names of running labs, which the command itself prints when they are wanted."""
    with tempfile.TemporaryDirectory() as folder:
        stub = pathlib.Path(folder, "mrc")
        stub.write_text('#!/bin/sh\n[ "$*" = "lab status --names" ] && echo one && echo two\n')
        stub.chmod(0o755)
        path = f"PATH={folder}:$PATH; "
        return want(["lab", "down", ""], ["one", "two"], before=path) + want(
            ["lab", "shell", "t"], ["two"], before=path
        )


def bash_completes_commands():
    return want(["run", "--report", "--", "bas"], ["bash"], exactly=False) + want(
        ["run", "--", "cat", "m"], ["mine.toml"]
    )


def what_is_not_offered_is_noticed():
    """The check itself: a flag too many, a flag too few."""
    if not want(["lab", "down", "--"], ["--all"]) or not want(["top", "--p"], ["--pid"]):
        return ["a wrong list passed"]
    return want(["lab", "down", "--"], ["--all", "--help"])


def specs(body):
    """How the specs of flags begin in a function: {"--seed=", "--quiet["}."""
    return set(re.findall(r"'\*?(--[\w-]+[=\[])", body))


def zsh_knows_every_verb_and_flag():
    """Each verb has its function, and that function all of its flags."""
    problems = []
    text = verbs.output(MRC, "completion", "zsh")
    for verb, flags in every_verb().items():
        name = "_".join(["_mrc", *verb.split()])
        _, found, body = text.partition(f"\n{name}() {{\n")
        body = body.partition("\n}\n")[0]
        if not found:
            problems.append(f"{name}: no such function")
        problems += [
            f"{name}: no {flag}" for flag in flags if not {f"{flag}=", f"{flag}["} & specs(body)
        ]
    return problems


def zsh_reads_the_script():
    if not shutil.which("zsh"):
        raise Skip("no zsh here")
    done = subprocess.run(
        ["zsh", "-f", "-n"], input=verbs.output(MRC, "completion", "zsh"),
        capture_output=True, text=True, check=False,
    )
    return done.stderr.splitlines() + ([f"status {done.returncode}"] if done.returncode else [])


def main():
    tests = (
        bash_completes_every_verb_and_flag,
        bash_completes_values,
        bash_completes_labs,
        bash_completes_commands,
        what_is_not_offered_is_noticed,
        zsh_knows_every_verb_and_flag,
        zsh_reads_the_script,
    )
    tap.main([(f"completion__{test.__name__}", test) for test in tests])


if __name__ == "__main__":
    main()
