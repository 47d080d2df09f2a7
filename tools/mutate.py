# SPDX-License-Identifier: BSD-2-Clause
"""Finds the faults that a machine can plant in C text, and writes the text that holds them all.

Four kinds of change: a statement that only calls a function is deleted; a comparison is turned
(< and <=, > and >=, == and !=); a condition that compares nothing is turned (if (x), x && y); a constant is moved by
one. The text that `instrument` writes has each of them behind a test of a global number, so that one build serves
all and the number chooses. Numbers count from the first of a file, so that a change of one file changes no other.

A fault that somebody wrote (tests/mutants) is a change of any kind to one function: `variant` has that stand there
twice, and the number chooses between the two.

Like csource.py this is no C parser; what it may rely on is the style of the project.
"""
import re
from typing import NamedTuple

import csource

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}

_TOKEN = re.compile(
    r"""(?P<macro>U?INT(?:8|16|32|64)_C\(\s*\w+\s*\)) | (?P<number>\d\w*) | (?P<word>[A-Za-z_]\w*)
      | (?P<mark>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])""",
    re.X,
)
# Binds less than == and <: these end an operand of both. What binds between < and == ends one of <.
_LOOSE = {"&&", "||", "?", ":", ",", ";", "=", "&", "|", "^", "return", "+=", "-=", "*=", "/=", "%=",
          "&=", "|=", "^=", "<<=", ">>=", "{", "}"}
_EQUALITY = {"==", "!="}
_OPEN, _CLOSE = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}
# Nothing inside these is what the code does.
_PASSIVE = {"mb_assert", "mb_assert_slow", "mb_panic", "mb_unreachable", "_Static_assert", "sizeof", "offsetof", "__attribute__"}
_HEADS = {"if", "for", "while", "switch"}


class Site(NamedTuple):
    """One change of one function. The number of a site is its place in the list of all."""

    file: str
    function: str
    was: str    # the clause it is in, its spaces made single
    made: str   # the same with the change
    kind: str   # call, comparison, sign, condition, constant or written
    edits: tuple  # (offset, characters to replace, text); {} stands for the number of the site


class Token(NamedTuple):
    text: str
    kind: str
    start: int
    end: int


def constants_of(text):
    """The numbers that a file gives names to: by #define, or by an enum that says the value."""
    names = re.findall(r"^#define[ \t]+([A-Z][A-Z0-9_]*)[ \t]+(?:\(?U?INT64_C|\(?\d)", text, re.M)
    names += re.findall(r"^\t([A-Z][A-Z0-9_]*) = \(?(?:1u? << )?\d", text, re.M)
    return set(names)


def _tokens(text, start, end):
    return [
        Token(m[0], m.lastgroup, m.start(), m.end()) for m in _TOKEN.finditer(text, start, end)
    ]


def _partners(tokens):
    """For each bracket the index of its partner."""
    partner, stack = {}, []
    for i, token in enumerate(tokens):
        if token.text in _OPEN:
            stack.append(i)
        elif token.text in _CLOSE:
            j = stack.pop()
            partner[i], partner[j] = j, i
    return partner


# Nothing is in one of these that the C library could take back.
_END = re.compile(r"pthread_(mutex|cond)(attr)?_destroy\(")
# A macro that is a statement stands in no expression.
_STATEMENT_MACRO = re.compile(r"#\s*define\s+(\w+)\([^)]*\)[\s\\]*do\b")
_LITERAL = re.compile(r""""(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'""", re.X)


class _Body:
    """One function body, and the changes in it."""

    def __init__(self, file, name, text, start, end, names, kinds):
        self.kinds = kinds
        self.file, self.name, self.text, self.names = file, name, text, names
        # A literal is a word: what brackets it holds are none.
        self.tokens = _tokens(_LITERAL.sub(lambda m: "L" * len(m[0]), text), start, end)
        self.partner = _partners(self.tokens)
        self.passive = self._find_passive()

    def _find_passive(self):
        """The tokens that no change may touch."""
        passive = set()
        for i, token in enumerate(self.tokens):
            if token.text in _PASSIVE and self._at(i + 1) == "(":
                passive.update(range(i, self.partner[i + 1] + 1))
            elif token.text in ("case", "goto"):
                passive.update(range(i, self._next(i, ":;")))
            elif token.text == "static":
                passive.update(range(i, self._next(i, ";")))
            elif token.text == "[" and self._declares(i) or token.text == "{" and self._at(i + 2) == "}":
                passive.update(range(i, self.partner[i] + 1))
        return passive

    def _at(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def _next(self, i, marks):
        while self._at(i) and self._at(i) not in marks:
            i = self.partner[i] + 1 if self._at(i) == "{" else i + 1
        return i

    def _declares(self, i):
        """Whether the bracket at i is of a declaration: `type name[`."""
        before = self.tokens[i - 2]
        if self._at(i - 1) == "]":
            return self._declares(self.partner[i - 1])
        return before.kind == "word" and before.text not in ("return", "else") or before.text == "*" and self._at(
            i - 4) in ("struct", "const")

    def _begins_statement(self, i):
        before = self._at(i - 1)
        if before == ")":
            return self._at(self.partner[i - 1] - 1) in _HEADS
        if before == ";" and self._in_head(i - 1):
            return False
        return before in ("", ";", "{", "}", "else", "do") or before == ":" and self._is_label(i - 1)

    def _in_head(self, i):
        """Whether the semicolon at i is one of for (;;)."""
        while i >= 0 and self._at(i) not in "({}":
            i = self.partner[i] - 1 if self._at(i) in (")", "]") else i - 1
        return self._at(i) == "("

    def _is_label(self, i):
        """Whether the colon at i ends a label; the others are of ?:."""
        while self._at(i - 1) not in (";", "{", "}", ":", "?", ""):
            i -= 1
        return self._at(i) in ("case", "default")

    def _call_ends(self, i):
        """The index of the ; that ends a statement at i that only calls; None: it is none."""
        if self.tokens[i].kind != "word" or self._at(i) in _HEADS or self._at(i) == "return":
            return None
        if re.fullmatch(r"[A-Z_0-9]+", self._at(i)) or self._at(i).startswith("mb_list_for"):
            return None
        while self._at(i + 1) in (".", "->"):
            i += 2
        if self._at(i + 1) != "(":
            return None
        end = self.partner[i + 1] + 1
        return end if self._at(end) == ";" else None

    def _operand(self, i, step):
        """The index of the last token of the operand beside the comparison at i."""
        stop = _LOOSE | _EQUALITY if self._at(i) not in _EQUALITY or step > 0 else _LOOSE
        j = i + step
        while True:
            text = self._at(j)
            if text in (_OPEN if step > 0 else _CLOSE) and text != "{":
                j = self.partner[j]
            elif not text or text in (_CLOSE if step > 0 else _OPEN) or text in stop and not self._is_address(j):
                return j - step
            j += step

    def _is_address(self, i):
        """Whether this is the operator & with one operand."""
        before = self.tokens[i - 1]
        return self._at(i) == "&" and before.kind == "mark" and before.text not in (")", "]")

    def _is_minimum(self, low, high):
        """Whether a comparison of these tokens gives the same when both are equal.

        It chooses one of them (a < b ? a : b, if (a < b) a = b), how much more one is (a > b ? a - b : 0), or how
        far apart they are (a > b ? a - b : b - a).
        """
        i = next(i for i in range(low, high) if self._at(i) in TURNED)
        join = lambda tokens: " ".join(token.text for token in tokens)
        a, b = join(self.tokens[low:i]), join(self.tokens[i + 1 : high + 1])
        end = self._next(high + 1, ";,")
        after = join(self.tokens[high + 1 : end])
        for x, y in ((a, b), (b, a)):
            chosen = (f"? {x} : {y}", f"? {x} - {y} : 0", f"? 0 : {x} - {y}", f"? {x} - {y} : {y} - {x}")
            if any(re.match(re.escape(text) + r"( \)|$)", after) for text in chosen) or after == f") {x} = {y}":
                return True
        return False

    def _is_bound_of_minimum(self, i):
        """Whether moving the constant at i by one is as turning such a comparison: in a < 8 ? a : 8 the first 8."""
        for at, step, marks in ((i - 1, 1, ("<", ">=")), (i + 1, -1, (">", "<="))):
            if self._at(at) in marks and self._operand(at, step) == i:
                low, high = self._operand(at, -1), self._operand(at, 1)
                return self._is_minimum(low, high)
        return False

    def _clause(self, i):
        """From where to where the clause reaches that token i is in: a statement, a head, a field."""
        low = high = i
        depth = 0
        while low > 0:
            text = self._at(low - 1)
            if text == ")" and depth == 0 and self._at(self.partner[low - 1] - 1) in _HEADS:
                break
            if text in ";{}" or text in ("else", "do") or text == "," and self._at(low) == ".":
                break
            low -= 1
        while high + 1 < len(self.tokens):
            text, after = self._at(high), self._at(high + 1)
            if text == ";" or after in "{}" or after == "," and self._at(high + 2) == ".":
                break
            if text == ")" and self._at(self.partner[high] - 1) in _HEADS:
                break
            high += 1
        return self.tokens[low].start, self.tokens[high].end

    def _site(self, kind, i, replaced, edits):
        """replaced: (start, end, text) of what the change looks like in the source."""
        low, high = self._clause(i)
        was = self.text[low:high]
        made = self.text[low : replaced[0]] + replaced[2] + self.text[replaced[1] : high]
        return Site(self.file, self.name, _squeeze(was), _squeeze(made), kind, tuple(edits))

    def _constant(self, i):
        token = self.tokens[i]
        return (
            token.kind in ("number", "macro")
            or token.text in self.names
            or token.text in ("true", "false")
        ) and self._at(i - 1) not in (".", "->")

    def _operands(self, i):
        """First and last tokens of what && and || join in the head that the word at i begins."""
        low, end = i + 2, self.partner[i + 1]
        j = low
        while j <= end:
            if j == end or self._at(j) in ("&&", "||"):
                yield low, j - 1
                low = j + 1
            j = self.partner[j] + 1 if self._at(j) in _OPEN else j + 1

    def _conditions(self, i):
        """Those of them that compare nothing and that a ! can turn."""
        if self._at(i) not in ("if", "while") or self._at(i + 1) != "(":
            return
        for low, high in self._operands(i):
            inside = range(low, high + 1)
            if low <= high and not any(self._at(j) in TURNED or j in self.passive for j in inside):
                yield low, high

    def sites(self):
        for i, token in enumerate(self.tokens):
            if i in self.passive:
                continue
            for low, high in self._conditions(i):
                a, b = self.tokens[low].start, self.tokens[high].end
                yield self._site("condition", low, (a, b, f"!({self.text[a:b]})"), [
                    (a, 0, "MT_MUTANT_NOT({}, "), (b, 0, ")")])
            if self._begins_statement(i) and (end := self._call_ends(i)):
                low, high = token.start, self.tokens[end].start
                yield self._site("call", i, (low, high, ""), [
                    (low, 0, "MT_MUTANT_CALL({}, "), (high, 0, ")")])
            elif token.text in TURNED:
                low, high = self._operand(i, -1), self._operand(i, 1)
                if token.text not in _EQUALITY and self._is_minimum(low, high):
                    continue  # the same when both are equal
                a, b = self.tokens[low], self.tokens[high]
                if "sign" in self.kinds and b.text == "0" and token.text not in _EQUALITY:
                    # Less than 0 is how calls fail; whether one is 0 matters little.
                    yield self._site("sign", i, (token.start, token.end, _OPPOSITE[token.text]), [
                        (a.start, 0, "MT_MUTANT_NOT({}, "), (b.end, 0, ")")])
                    continue
                turned = TURNED[token.text]
                yield self._site("comparison", i, (token.start, token.end, turned), [
                    (a.start, 0, f"MT_MUTANT_{_NAME[token.text]}({{}}, "),
                    (token.start, len(token.text), ","), (b.end, 0, ")")])
            elif self._constant(i) and not self._is_bound_of_minimum(i):
                if token.text in ("true", "false"):
                    moved, macro = {"true": "false", "false": "true"}[token.text], "MT_MUTANT_BOOL"
                else:
                    moved, macro = f"({token.text} + 1)", "MT_MUTANT_MOVE"
                yield self._site("constant", i, (token.start, token.end, moved), [
                    (token.start, 0, f"{macro}({{}}, "), (token.end, 0, ")")])


_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
_NAME = {"<": "LT", "<=": "LE", ">": "GT", ">=": "GE", "==": "EQ", "!=": "NE"}


def _is_static(text, name):
    return re.search(rf"^static [^;{{}}]*\b{name}\(", text, re.M)


ALL = frozenset({"call", "comparison", "condition", "constant"})


def sites(file, text, names, kinds=ALL):
    """All changes of a file, in the order of the text; names: constants that may be moved.

    With the kind "sign" a comparison with 0 is turned to its opposite, not by one.
    """
    bare = csource.bare(text)
    plain = _DIRECTIVE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), csource.without_comments(text))
    bodies = [_Body(file, f.name, plain, f.start, f.end, names, kinds) for f in csource.functions(text)]
    called = [token.text for b in bodies for i, token in enumerate(b.tokens) if i not in b.passive]
    asserted = {b.tokens[i].text for b in bodies for i in b.passive}
    statements = set(_STATEMENT_MACRO.findall(text))
    return [
        site for b in bodies
        # What only assertions ask is as they are: not what the code does.
        if b.name in called or b.name not in asserted or not _is_static(bare, b.name)
        # Cache lines that are asked for change how long things take, and nothing else.
        if "_prefetch" not in b.name
        for site in b.sites() if site.kind in kinds
        if site.kind != "call" or site.was.partition("(")[0] not in statements and not _END.match(site.was)
    ]


def _squeeze(text):
    return re.sub(r"\s+", " ", text).strip()


def _names_of(arguments):
    """The names of a function's arguments, as a call of it has them."""
    plain = re.sub(r"\(\s*\*\s*(\w+)\s*\)\s*\([^()]*\)", r" \1", arguments)
    if plain.strip() == "void":
        return ""
    return ", ".join(re.search(r"(\w+)\s*(?:\[[^]]*\]\s*)*$", one)[1] for one in plain.split(","))


def variant(file, text, name, edit):
    """The change of this name that somebody wrote; edit: (offset, characters to replace, text) in one function's body."""
    at, length, new = edit
    function = next((f for f in csource.functions(text) if f.start < at and at + length < f.end), None)
    if not function:
        raise ValueError(f"{name}: {file}: what it changes is in no function's body")
    bare = csource.bare(text)
    begin = max(bare.rfind(mark, 0, function.start) for mark in ";}") + 1
    begin += len(bare[begin:]) - len(bare[begin:].lstrip())
    head = bare[begin : function.start].rstrip()
    result, arguments = re.fullmatch(rf"(.*?)\b{function.name}\s*\((.*)\)", head, re.S).groups()
    other = f"{function.name}_{name}"
    body = text[function.start : at] + new + text[at + length : function.end]
    inline = "inline " if re.search(r"\binline\b", result) else ""
    result = re.sub(r"\b(static|inline)\s+", "", result)
    # One that calls itself calls the first.
    code = f"{head};\n" if re.search(rf"\b{function.name}\s*\(", body) else ""
    code += f"static {inline}{result}{other}({arguments})\n{body}\n\n"
    call = f"{other}({_names_of(arguments)})"
    call = f"{{ {call}; return; }}" if result.strip() == "void" else f"return {call};"
    return Site(file, function.name, _squeeze(text[at : at + length]), _squeeze(new), "written", (
        (begin, 0, code), (function.start + 1, 0, f"\n\tif (MT_MUTANT({{}})) {call}")))


def base_of(file):
    """The name of the number that the first change of a file has."""
    return "mt_mutant_" + re.sub(r"\W", "_", file)


def instrument(text, found):
    """The text with all changes of one file in it."""
    edits = []
    base = base_of(found[0].file)
    for number, site in enumerate(found):
        # Of brackets that meet, the inner ones open last and close first.
        width = max(e[0] for e in site.edits) - min(e[0] for e in site.edits)
        for at, length, new in site.edits:
            opens = new.startswith("MT_")
            if "MT_MUTANT" in new:
                new = new.replace("{}", f"{base} + {number}")
            edits.append((at, 1 if opens else 0, -width if opens else width, length, new))
    out, done = [], 0
    for at, _, _, length, new in sorted(edits):
        out += [text[done:at], new]
        done = at + length
    head = f'#include "base/mutant.h"\nextern const unsigned {base};\n'
    return head + "".join(out) + text[done:]


HEADER = """#ifndef SOFTMRC_BASE_MUTANT_H
#define SOFTMRC_BASE_MUTANT_H
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
extern unsigned mt_mutant;
extern unsigned char *mt_mutant_reached;
#define MT_MUTANT(n) (mt_mutant_reached[n] = 1, mt_mutant == (n))
#define MT_MUTANT_CALL(n, ...) (void)(MT_MUTANT(n) ? (void)0 : (void)(__VA_ARGS__))
#define MT_MUTANT_LT(n, a, ...) (MT_MUTANT(n) ? (a) <= (__VA_ARGS__) : (a) < (__VA_ARGS__))
#define MT_MUTANT_LE(n, a, ...) (MT_MUTANT(n) ? (a) < (__VA_ARGS__) : (a) <= (__VA_ARGS__))
#define MT_MUTANT_GT(n, a, ...) (MT_MUTANT(n) ? (a) >= (__VA_ARGS__) : (a) > (__VA_ARGS__))
#define MT_MUTANT_GE(n, a, ...) (MT_MUTANT(n) ? (a) > (__VA_ARGS__) : (a) >= (__VA_ARGS__))
#define MT_MUTANT_EQ(n, a, ...) (MT_MUTANT(n) ? (a) != (__VA_ARGS__) : (a) == (__VA_ARGS__))
#define MT_MUTANT_NE(n, a, ...) (MT_MUTANT(n) ? (a) == (__VA_ARGS__) : (a) != (__VA_ARGS__))
#define MT_MUTANT_NOT(n, ...) (MT_MUTANT(n) ? !(__VA_ARGS__) : !!(__VA_ARGS__))
#define MT_MUTANT_MOVE(n, ...) (MT_MUTANT(n) ? (__VA_ARGS__) + 1 : (__VA_ARGS__))
#define MT_MUTANT_BOOL(n, ...) (MT_MUTANT(n) ? !(__VA_ARGS__) : (__VA_ARGS__))
#endif
"""

# MRC_MUTANT chooses. What processes come by is noted in the file MRC_MUTANT_REACHED, which they map, so that no
# way to end loses it. Tests stand before open and mmap of the C library: these are the kernel's.
_SWITCH = """#define _GNU_SOURCE
#include "base/mutant.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
%(bases)s
unsigned mt_mutant = ~0u;
static unsigned char unseen[%(count)d];
unsigned char *mt_mutant_reached = unseen;
static void note_in(const char *name)
{
	long fd = syscall(SYS_openat, AT_FDCWD, name, O_RDWR | O_CLOEXEC);
	long map;
	if (fd < 0)
		return;
	map = syscall(SYS_mmap, 0L, sizeof(unseen), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
	syscall(SYS_close, fd);
	if (map > 0 || map < -4095)
		mt_mutant_reached = (unsigned char *)map;
}
__attribute__((constructor)) static void choose(void)
{
	const char *text = getenv("MRC_MUTANT"), *name = getenv("MRC_MUTANT_REACHED");
	if (text)
		mt_mutant = (unsigned)strtoul(text, NULL, 10);
	if (name)
		note_in(name);
}
"""


def switch(firsts, count):
    """The C file that knows which change is chosen; firsts: file -> number of its first change."""
    bases = (f"extern const unsigned {base_of(file)};\nconst unsigned {base_of(file)} = {first};"
             for file, first in sorted(firsts.items()))
    return _SWITCH % {"bases": "\n".join(bases), "count": count}
