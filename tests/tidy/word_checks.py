# SPDX-License-Identifier: BSD-2-Clause
"""The words that the project has given up (retired_words.txt), and where they still stand."""
import fnmatch
import functools
import re
from typing import NamedTuple

import csource

LIST = "tests/tidy/retired_words.txt"
# What was renamed is told there, in the words of before.
UNREAD = {LIST, "CHANGELOG.md"}
LINE = re.compile(r"^(\S.*?)\s+->\s+(\S.*?)(?:\s+except\s+(\S.*))?$")
# A word is a run of letters: mt_qp_init has three, and a phrase is words with spaces between.
WORD = re.compile(r"[a-z]+")


class Retired(NamedTuple):
    pattern: str
    instead: str
    exceptions: tuple  # globs of paths

    def holds_at(self, path):
        return not any(fnmatch.fnmatch(str(path), glob) for glob in self.exceptions)


def read_list(text):
    """Returns (entries, problems) of the list; the form of a line is explained in the list."""
    entries, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = LINE.match(line)
        try:
            re.compile(match[1] if match else "(")
            entries.append(Retired(match[1], match[2], tuple((match[3] or "").split())))
        except re.error:
            problems.append(f"{LIST}:{number}: want 'REGEX -> INSTEAD [except GLOB...]': {line}")
    return entries, problems


def _finder(entries):
    """Returns a function text -> [(offset, matched text, entry)]."""
    words = [e for e in entries if " " not in e.pattern]
    phrases = [(re.compile(rf"(?<![a-z])(?:{e.pattern.replace(' ', chr(92) + 's+')})(?![a-z])"), e)
               for e in entries if " " in e.pattern]
    compiled = [(re.compile(e.pattern), e) for e in words]

    @functools.cache
    def of_word(word):
        return [e for pattern, e in compiled if pattern.fullmatch(word)]

    def find(text):
        text = text.lower()
        bad = {word for word in set(WORD.findall(text)) if of_word(word)}
        found = [(m.start(), m[0], e) for m in WORD.finditer(text) if bad and m[0] in bad
                 for e in of_word(m[0])] if bad else []
        return found + [(m.start(), m[0], e) for p, e in phrases for m in p.finditer(text)]

    return find


def retired_words(tree):
    """No retired word stands in a text or in the name of a file."""
    if not (tree.root / LIST).is_file():
        return [f"{LIST} is missing"]
    entries, problems = read_list(tree.text(LIST))
    find = _finder(entries)
    for path in tree.files:
        if str(path) in UNREAD:
            continue
        try:
            text = tree.text(path)
        except UnicodeDecodeError:
            continue  # a binary file, such as a fuzz corpus entry
        places = [(str(path), *found) for found in find(str(path))]
        places += [(f"{path}:{csource.line_of(text, found[0])}", *found) for found in find(text)]
        problems += [f"{at}: '{' '.join(word.split())}' is retired: {entry.instead}"
                       for at, _, word, entry in places if entry.holds_at(path)]
    return problems
