#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""mrcd_unit.py MRCD UNIT CONFIG: what is installed for mrcd, by mrcd itself and by systemd-analyze."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/tidy"))

import tap  # noqa: E402
from tree import Skip  # noqa: E402

MRCD, UNIT, CONFIG = sys.argv[1:4]
# systemd's scale: 0 is shut in, 10 may do all; above 5 it calls a service exposed.
EXPOSURE = 2.7


def analyze(*words):
    tool = shutil.which("systemd-analyze")
    if not tool:
        raise Skip("systemd-analyze is not installed (package systemd)")
    return subprocess.run([tool, *words], capture_output=True, text=True, check=False)


def the_configuration_is_right():
    run = subprocess.run([MRCD, "--check", "--config", CONFIG], capture_output=True, text=True, check=False)
    return [] if run.returncode == 0 else run.stderr.splitlines()


def the_unit_is_right():
    """With this mrcd in the place of the installed one, which is not there."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "mrcd.service"
        text = pathlib.Path(UNIT).read_text(encoding="utf-8")
        copy.write_text(re.sub(r"^(Exec\w+)=\S*/mrcd\b", rf"\1={os.path.abspath(MRCD)}", text, flags=re.M), encoding="utf-8")
        run = analyze("verify", "--man=no", str(copy))
        return [line for line in (run.stdout + run.stderr).splitlines() if "mrcd" in line]


def it_is_shut_in():
    run = analyze("security", "--offline=yes", "--no-pager", f"--threshold={int(EXPOSURE * 10)}", UNIT)
    return [] if run.returncode == 0 else (run.stdout + run.stderr).splitlines()[-12:]


tap.main([(check.__name__, check) for check in (the_configuration_is_right, the_unit_is_right, it_is_shut_in)])
