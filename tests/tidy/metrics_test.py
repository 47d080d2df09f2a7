#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""metrics_test.py MRC: docs/metrics.md has the table that `mrc stat --describe` prints."""
import subprocess
import sys

import run
import tap

MRC = sys.argv[1]
PAGE = run.ROOT / "docs/metrics.md"


def described():
    """The catalogue, as the program prints it."""
    done = subprocess.run([MRC, "stat", "--describe"], capture_output=True, text=True, check=True)
    return done.stdout


def compare(page, table):
    """Lines of the table that the page lacks, and rows of the page's last table that it has not."""
    have = page[page.rfind("\n\n") + 2 :].splitlines()
    want = table.splitlines()
    problems = [f"docs/metrics.md lacks: {line}" for line in want if line not in have]
    problems += [f"docs/metrics.md: not in the catalogue: {line}" for line in have if line not in want]
    return problems or ([] if have == want else ["docs/metrics.md: the rows are in another order"])


def page_has_the_catalogue():
    return compare(PAGE.read_text(encoding="utf-8"), described())


def what_differs_is_noticed():
    """The check itself."""
    got = compare("x\n\n| a |\n| b |\n", "| a |\n| c |\n")
    want = ["docs/metrics.md lacks: | c |", "docs/metrics.md: not in the catalogue: | b |"]
    return [] if got == want and not compare("x\n\n| a |\n", "| a |\n") else [f"got {got}"]


if __name__ == "__main__":
    tap.main([(check.__name__, check) for check in (page_has_the_catalogue, what_differs_is_noticed)])
