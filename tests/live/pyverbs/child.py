# SPDX-License-Identifier: BSD-2-Clause
"""child.py FOLDER FD: runs rdma-core's tests in FOLDER for suite.py.

Reads a list of names from stdin. An empty list is answered with the list of all. Otherwise those
tests are run, and FD is told a line of JSON when one begins and one when it has ended.
"""
import importlib
import json
import os
import pathlib
import random
import sys
import unittest

FOLDER, FD = pathlib.Path(sys.argv[1]), int(sys.argv[2])
# The tests import each other in both directions.
sys.path[:0] = [str(FOLDER.parent), str(FOLDER)]


def say(what):
    os.write(FD, (json.dumps(what) + "\n").encode())


def short(text):
    return " ".join(str(text).split())


class Result(unittest.TestResult):
    """Tells of each test when it begins and when it ends."""

    def startTest(self, test):
        super().startTest(test)
        self.said = "ok"
        say({"name": name_of(test)})

    def stopTest(self, test):
        super().stopTest(test)
        say({"name": name_of(test), "result": self.said})

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.said = f"skip: {short(reason)}"

    def fault(self, test, err):
        self.said = f"fails: {err[0].__name__}: {short(err[1])}"
        print(f"{name_of(test)}: {self._exc_info_to_string(err, test)}", file=sys.stderr)

    def addError(self, test, err):
        super().addError(test, err)
        self.fault(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.fault(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.fault(test, err)


def name_of(test):
    return test.id().removeprefix("tests.")


def all_tests():
    """All test cases; a class that other modules import as well comes once."""
    found = {}
    for file in sorted(FOLDER.glob("test_*.py")):
        module = importlib.import_module(f"tests.{file.stem}")
        stack = [unittest.defaultTestLoader.loadTestsFromModule(module)]
        while stack:
            item = stack.pop()
            if isinstance(item, unittest.TestSuite):
                stack += reversed(list(item))
            else:
                found[name_of(item)] = item
    return found


def main():
    names = json.load(sys.stdin)
    arguments = importlib.import_module("args_parser")
    sys.argv = ["tests", "--dev", "mrc0"]
    arguments.parser.parse_args()
    tests = all_tests()
    if not names:
        say(list(tests))
        return
    result = Result()
    for name in names:
        random.seed(name)  # some tests try attributes by chance
        tests[name].run(result)


if __name__ == "__main__":
    main()
