# SPDX-License-Identifier: BSD-2-Clause
"""Just enough understanding of C text for tools/conformance and tests/tidy.

This is no C parser. It relies on the project's own style: clang-format, functions whose opening
brace follows the closing parenthesis of their parameters, no macros that hide braces.
"""
import functools
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


# What registers a case: tests/support/test.h. Each ends with the names of function and case.
_CASES = ("TEST", "TEST_WITH")
_CALL = re.compile(r"(\w+)[ \t]*\(([^()]*)\)")
_FUNCTION_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(([^)]*)\)((?:[^\n]*\\\n)*[^\n]*)", re.M)


def macros(text):
    """The macros of a file that take arguments: name -> (parameters, what it stands for)."""
    return {
        match[1]: (re.findall(r"[\w.]+", match[2]), match[3])
        for match in _FUNCTION_MACRO.finditer(without_comments(text))
    }


def case_name(macro, arguments, known):
    """The test case that `macro(arguments)` writes, f__c for TEST(f, c); None: it writes none."""
    if macro in _CASES:
        return "__".join(arguments[-2:])
    parameters, body = known.get(macro, ((), ""))
    values = dict(zip(parameters, arguments))
    body = re.sub(r"\w+", lambda m: values.get(m[0], m[0]), body)
    body = re.sub(r"\s*##\s*", "", body)
    for match in _CALL.finditer(body):
        if match[1] in _CASES or match[1] in known and match[1] != macro:
            name = case_name(match[1], [a.strip() for a in match[2].split(",")], known)
            if name:
                return name
    return None


def _name_before(text, brace):
    """The name and the arguments of the declarator that ends at `brace`."""
    begin = max(text.rfind(mark, 0, brace) for mark in ";}") + 1
    declarator = text[begin:brace]
    declarator = re.sub(r"__attribute__\s*\(\(.*?\)\)|\bSEC\(.*?\)", "", declarator, flags=re.S)
    last = declarator.rfind(")")
    depth = 0
    for at in range(last, -1, -1):
        depth += (declarator[at] == ")") - (declarator[at] == "(")
        if depth == 0:
            match = re.search(r"(\w+)\s*$", declarator[:at])
            arguments = [a.strip() for a in declarator[at + 1 : last].split(",")]
            return (match[1], arguments) if match else (None, ())
    return None, ()


@functools.lru_cache(maxsize=None)
def _bodies(text):
    """Every function body: (name, arguments, start, end)."""
    text = bare(text)
    found = []
    depth = 0
    start = name = arguments = None
    for match in re.finditer(r"[{}]", text):
        at = match.start()
        if match[0] == "}":
            depth -= 1
            if depth == 0 and start is not None:
                found.append((name, arguments, start, at + 1))
                start = None
            continue
        before = text[:at].rstrip() if depth == 0 else ""
        if depth == 0 and before.endswith("extern"):
            # extern "C" { ... } is no depth worth counting; its closing brace ends at -1.
            depth -= 1
        elif depth == 0 and before.endswith(")"):
            name, arguments = _name_before(text, at)
            start = at if name else None
        depth += 1
    return found


def functions(text, known=()):
    """Every function of a C file, in order; a test is named after its case, by the macros `known`."""
    known = dict(known)
    return [
        Function(case_name(name, arguments, known) or name, start, end)
        for name, arguments, start, end in _bodies(text)
    ]


_DEFINITION = re.compile(
    r"""^[ \t]*\#[ \t]*define[ \t]+(?P<macro>\w+)
      | ^(?:typedef[ ]+)?(?:struct|enum|union)[ ]+(?P<type>\w+)[ \t\n]*\{
      | ^[^\n;={}]*?\b(?P<name>\w+)[ \t]*\((?P<arguments>[^)]*)
      | ^[^\n;(){}]*?\b(?P<data>\w+)(?:\[[^\]]*\])*[ \t]*(?:=|;)""",
    re.M | re.X,
)


def place_of(text, offset, known=()):
    """The name of the function, type, macro or datum that a comment at `offset` belongs to.

    Inside a body that is the function; elsewhere it is what the comment stands before. The comment
    that opens a file speaks for the file: no name. A test is named after its case, by the macros
    `known`.
    """
    for function in functions(text, known):
        if function.start <= offset < function.end:
            return function.name
    if not without_comments(text)[:offset].strip():
        after = text[text.find("*/", offset) + 2 :]
        if re.match(r"\n[ \t]*(\n|#[ \t]*(include|if))", after):
            return None
    match = _DEFINITION.search(without_comments(text), offset)
    if not match:
        return None
    if match["name"]:
        arguments = [a.strip() for a in match["arguments"].split(",")]
        return case_name(match["name"], arguments, dict(known)) or match["name"]
    return match["macro"] or match["type"] or match["data"]
