# SPDX-License-Identifier: BSD-2-Clause
"""Just enough understanding of C text for tools/conformance and tests/tidy.

This is no C parser. It relies on the project's own style: clang-format, functions whose opening
brace follows the closing parenthesis of their parameters, no macros that hide braces.
"""
import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""", re.S | re.X
)


class Function(NamedTuple):
    name: str
    start: int  # offset of the opening brace
    end: int  # offset behind the closing brace


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """Comments become blanks; offsets and line numbers stay."""
    return _TOKEN.sub(lambda m: _blank(m[0]) if m[0][0] == "/" else m[0], text)


def bare(text):
    """Comments, contents of literals and preprocessor lines become blanks; offsets stay."""
    text = _TOKEN.sub(lambda m: _blank(m[0]), text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: _blank(m[0]), text, flags=re.M)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def _name_before(text, brace):
    """The function named in the declarator that ends at `brace`; TEST(f, c) is named f__c."""
    begin = max(text.rfind(mark, 0, brace) for mark in ";}") + 1
    declarator = text[begin:brace]
    declarator = re.sub(r"__attribute__\s*\(\(.*?\)\)|\bSEC\(.*?\)", "", declarator, flags=re.S)
    match = re.search(r"(\w+)\s*\(", declarator)
    if not match:
        return None
    if match[1].startswith("TEST"):
        words = re.findall(r"\w+", declarator[match.end() :])
        return "__".join(words[-2:])
    return match[1]


def functions(text):
    """Every function body of a C file, in order."""
    text = bare(text)
    found = []
    depth = 0
    start = name = None
    for match in re.finditer(r"[{}]", text):
        at = match.start()
        if match[0] == "}":
            depth -= 1
            if depth == 0 and start is not None:
                found.append(Function(name, start, at + 1))
                start = None
            continue
        before = text[:at].rstrip() if depth == 0 else ""
        if depth == 0 and before.endswith("extern"):
            # extern "C" { ... } is no depth worth counting; its closing brace ends at -1.
            depth -= 1
        elif depth == 0 and before.endswith(")"):
            name = _name_before(text, at)
            start = at if name else None
        depth += 1
    return found


_DEFINITION = re.compile(
    r"""^[ \t]*\#[ \t]*define[ \t]+(?P<macro>\w+)
      | ^(?:typedef[ ]+)?(?:struct|enum|union)[ ]+(?P<type>\w+)[ \t\n]*\{
      | ^[^\n;={}]*?\b(?P<name>\w+)[ \t]*\((?P<arguments>[^)]*)
      | ^[^\n;(){}]*?\b(?P<data>\w+)(?:\[[^\]]*\])*[ \t]*(?:=|;)""",
    re.M | re.X,
)


def place_of(text, offset):
    """The name of the function, type, macro or datum that a comment at `offset` belongs to.

    Inside a body that is the function; elsewhere it is what the comment stands before. The comment
    that opens a file speaks for the file: no name.
    """
    for function in functions(text):
        if function.start <= offset < function.end:
            return function.name
    if not without_comments(text)[:offset].strip():
        after = text[text.find("*/", offset) + 2 :]
        if re.match(r"\n[ \t]*(\n|#[ \t]*(include|if))", after):
            return None
    match = _DEFINITION.search(without_comments(text), offset)
    if not match:
        return None
    if match["name"] and match["name"].startswith("TEST"):
        return "__".join(re.findall(r"\w+", match["arguments"])[-2:])
    return match["macro"] or match["type"] or match["name"] or match["data"]
