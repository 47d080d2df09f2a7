# SPDX-License-Identifier: BSD-2-Clause
"""Shows that tools/count-cases counts cases, and that nothing that goes wrong is counted as right."""
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

import run
import tap


def count(*tests, lines=1):
    """tests: (status, output). Returns (exit status, last lines) of tools/count-cases."""
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as report:
        report.write("<testsuite>")
        for status, output in tests:
            failure = '<failure message="x"/>' if status == "fail" else ""
            reason = "SKIP_RETURN_CODE=77" if status == "skip" else "Unable to start"
            skipped = f'<skipped message="{reason}"/>' if status in ("skip", "notrun") else ""
            written = "notrun" if status == "skip" else status
            report.write(
                f'<testcase name="t" status="{written}">{failure}{skipped}'
                f"<system-out>{escape(output)}</system-out></testcase>"
            )
        report.write("</testsuite>")
        report.flush()
        return count_file(report.name, lines)


def count_file(path, lines=1):
    command = [sys.executable, run.ROOT / "tools/count-cases", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, "\n".join(done.stdout.splitlines()[-lines:])


def tap_file(want, text):
    def check():
        with tempfile.NamedTemporaryFile("w", suffix=".tap") as report:
            report.write(text)
            report.flush()
            got = count_file(report.name)
        return [] if got == want else [f"want {want}, got {got}"]

    return check


def case(want, *tests):
    def check():
        got = count(*tests, lines=want[1].count("\n") + 1)
        return [] if got == want else [f"want {want}, got {got}"]

    return check


TWO_OF_TWO = "1..2\nok 1 - a\nok 2 - b\n"
CASES = {
    "count__cases_not_binaries": case(
        (0, "4 passed, 0 failed, 0 skipped"), ("run", TWO_OF_TWO), ("run", TWO_OF_TWO)
    ),
    "count__failed_case": case(
        (1, "1 passed, 1 failed, 0 skipped"), ("fail", "1..2\nok 1 - a\nnot ok 2 - b\n")
    ),
    "count__failed_case_in_passed_test": case(
        (1, "1 passed, 1 failed, 0 skipped"), ("run", "1..2\nok 1 - a\nnot ok 2 - b\n")
    ),
    "count__cmocka_skip": case(
        (0, "1 passed, 0 failed, 1 skipped"),
        ("run", "1..2\nok 1 - a\n# skip: no\nnot ok 2 # SKIP b\n"),
    ),
    "count__tap_skip": case((1, "0 passed, 0 failed, 1 skipped"), ("run", "1..1\nok 1 - a # SKIP no\n")),
    "count__not_applicable": case(
        (0, "not applicable: 3 (a suite: 2, b: 1)\n1 passed, 0 failed, 1 skipped"),
        ("run", "1..3\nok 1 - a\nok 2 - b # SKIP no device\n"
                "ok 3 - c # SKIP not applicable (a suite): of a vendor\n"),
        ("run", "1..2\nok 1 - a # SKIP not applicable (b): raw\n"
                "ok 2 - c # SKIP not applicable (a suite): ODP\n"),
    ),
    "count__all_not_applicable": case(
        (1, "not applicable: 1 (a: 1)\n0 passed, 0 failed, 0 skipped"),
        ("run", "1..1\nok 1 - a # SKIP not applicable (a): of a vendor\n"),
    ),
    "count__crash_after_not_applicable": case(
        (1, "not applicable: 1 (a: 1)\n0 passed, 1 failed, 0 skipped"),
        ("fail", "1..2\nok 1 - a # SKIP not applicable (a): of a vendor\n"),
    ),
    "count__crash_after_first_case": case(
        (1, "1 passed, 2 failed, 0 skipped"), ("fail", "1..3\nok 1 - a\nSegmentation fault\n")
    ),
    "count__crash_before_plan": case((1, "0 passed, 1 failed, 0 skipped"), ("fail", "")),
    "count__crash_before_trailing_plan": case(
        (1, "1 passed, 1 failed, 0 skipped"), ("fail", "ok 1 - a\n")
    ),
    "count__ends_well_after_first_case": case(
        (1, "1 passed, 2 failed, 0 skipped"), ("run", "1..3\nok 1 - a\n")
    ),
    "count__more_cases_than_planned": case(
        (1, "2 passed, 1 failed, 0 skipped"), ("run", "1..1\nok 1 - a\nok 2 - b\n")
    ),
    "count__leak_found_at_exit": case(
        (1, "2 passed, 1 failed, 0 skipped"), ("fail", TWO_OF_TWO + "ERROR: LeakSanitizer\n")
    ),
    "count__without_tap": case((0, "1 passed, 0 failed, 0 skipped"), ("run", "hello\n")),
    "count__not_built": case(
        (1, "0 passed, 1 failed, 0 skipped"), ("notrun", "Unable to find executable: t\n")
    ),
    "count__not_started": case(
        (1, "0 passed, 1 failed, 0 skipped"), ("notrun", "Failed to change directory\n")
    ),
    "count__whole_test_skipped": case(
        (0, "2 passed, 0 failed, 1 skipped"), ("run", TWO_OF_TWO), ("skip", "needs root\n")
    ),
    "count__nothing_ran": case((1, "0 passed, 1 failed, 0 skipped")),
    "count__tap_file": tap_file((0, "2 passed, 0 failed, 0 skipped"), TWO_OF_TWO),
    "count__tap_file_cut_short": tap_file(
        (1, "1 passed, 1 failed, 0 skipped"), "1..2\nok 1 - a\n"
    ),
    "count__tap_file_too_long": tap_file(
        (1, "2 passed, 1 failed, 0 skipped"), "1..1\nok 1 - a\nok 2 - b\n"
    ),
    "count__tap_file_empty": tap_file((1, "0 passed, 1 failed, 0 skipped"), ""),
    "count__two_plans": case(
        (1, "1 passed, 1 failed, 0 skipped"), ("fail", "1..1\nok 1 - a\n1..1\n")
    ),
}

if __name__ == "__main__":
    tap.main(list(CASES.items()))
