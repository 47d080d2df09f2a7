# SPDX-License-Identifier: BSD-2-Clause
"""Runs functions as test cases and prints TAP, so that tools/count-cases counts them."""
import sys
import traceback

from tree import Skip


def run(cases):
    """cases: list of (name, function returning a list of problems). Returns an exit status."""
    print(f"1..{len(cases)}", flush=True)
    failed = 0
    for number, (name, function) in enumerate(cases, 1):
        try:
            problems = function()
        except Skip as skip:
            print(f"ok {number} - {name} # SKIP {skip}", flush=True)
            continue
        except Exception:  # a broken check is a failed check, and the next ones still run
            problems = traceback.format_exc().splitlines()
        for problem in problems:
            print(f"# {problem}")
        failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {number} - {name}", flush=True)
    return 1 if failed else 0


def main(cases):
    sys.exit(run(cases))
