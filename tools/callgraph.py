# SPDX-License-Identifier: BSD-2-Clause
"""Which functions of a build an entry point of the product reaches.

The graph is read from the object files of src/ and examples/ in a build folder. Such a build has a
section for each function and datum (Debug builds do, see cmake/Softmrc.cmake), so each call, each
address that is taken and each entry of a static table is a relocation from one section to another.

Entry points are main() of each program, constructors, and what the shared libraries in lib/
export. Objects of tests/ and bench/ are not read, so a test is no caller. A function whose address
is taken counts as called where the address is taken; a static table counts for all functions in it.

The compiler drops what it inlines. A function without a symbol counts as reached if a reached
function mentions it: one of the same file for a function of a .c file, any for one of a header.

bpf/ is one program that the kernel calls through its SEC("tc") function, and everything in it is
inlined there: its functions count as reached.
"""
import collections
import functools
import json
import pathlib
import re
import shlex
import struct
from typing import NamedTuple

import csource

FOLDERS = ("src", "examples")
_SHT_SYMTAB, _SHT_RELA, _SHT_DYNSYM = 2, 4, 11
_SHF_ALLOC = 2
_STT_OBJECT, _STT_FUNC = 1, 2
_WORD = re.compile(r"[A-Za-z_]\w*")
# What sanitizers add to each object; it refers to every datum and belongs to nobody's source.
_MADE = re.compile(r"_sub_[ID]_\d|\.LASAN|__odr_asan")


class BuildError(Exception):
    """The build folder lacks something; the text says what."""


class Symbol(NamedTuple):
    name: str
    kind: int
    is_local: bool
    section: int  # 0: defined elsewhere


class Elf:
    """Sections and symbols of one ELF file, 64 bits, of either byte order."""

    def __init__(self, path):
        self.data = pathlib.Path(path).read_bytes()
        if self.data[:5] != b"\x7fELF\x02":
            raise BuildError(f"{path} is no 64-bit ELF file")
        self.order = "<" if self.data[5] == 1 else ">"
        offset = struct.unpack_from(self.order + "Q", self.data, 0x28)[0]
        size, count, names = struct.unpack_from(self.order + "HHH", self.data, 0x3A)
        # name, type, flags, address, offset, size, link, info, alignment, entry size
        self.headers = [
            struct.unpack_from(self.order + "IIQQQQIIQQ", self.data, offset + i * size)
            for i in range(count)
        ]
        self.sections = [self._text(names, header[0]) for header in self.headers]

    def _text(self, table, offset):
        start = self.headers[table][4] + offset
        return self.data[start : self.data.index(b"\0", start)].decode()

    def _entries(self, index, layout):
        header = self.headers[index]
        return struct.iter_unpack(
            self.order + layout, memoryview(self.data)[header[4] : header[4] + header[5]]
        )

    def symbols(self, table_type=_SHT_SYMTAB):
        for index, header in enumerate(self.headers):
            if header[1] == table_type:
                return [
                    Symbol(self._text(header[6], name).split("@")[0], info & 15, info < 16, section)
                    for name, info, _, section, _, _ in self._entries(index, "IBBHQQ")
                ]
        return []

    def references(self):
        """Pairs (section, index of the symbol it refers to) of what is loaded into memory."""
        found = set()
        for index, header in enumerate(self.headers):
            if header[1] != _SHT_RELA:
                continue
            section = header[7]
            if not self.headers[section][2] & _SHF_ALLOC or self.sections[section] == ".eh_frame":
                continue
            found.update((section, info >> 32) for _, info, _ in self._entries(index, "QQq"))
        return found


class Object(NamedTuple):
    source: str  # relative to the root; of a generated file relative to the build
    symbols: list
    edges: dict  # section -> symbols it refers to
    sections: list


def _read_object(path, source):
    elf = Elf(path)
    symbols = elf.symbols()
    edges = collections.defaultdict(list)
    for section, index in elf.references():
        edges[section].append(symbols[index])
    return Object(source, symbols, edges, elf.sections)


def _relative(path, *roots):
    for root in roots:
        if path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return path.as_posix()


def _objects(root, build):
    root, build = root.resolve(), build.resolve()
    database = build / "compile_commands.json"
    if not database.is_file():
        raise BuildError(f"{database} is missing: configure the build with cmake first")
    objects = []
    for entry in json.loads(database.read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        output = pathlib.Path(entry["directory"], words[words.index("-o") + 1])
        if _relative(output, build).split("/")[0] not in FOLDERS:
            continue
        if "-ffunction-sections" not in words:
            raise BuildError(f"{build} is no Debug build: its functions share a section")
        if not output.is_file():
            raise BuildError(f"{output} is missing: build first")
        source = _relative(pathlib.Path(entry["file"]).resolve(), build, root)
        objects.append(_read_object(output, source))
    return objects


def _exported(build):
    names = set()
    for path in (build / "lib").rglob("*.so*"):
        if not path.is_symlink():
            symbols = Elf(path).symbols(_SHT_DYNSYM)
            kinds = (_STT_FUNC, _STT_OBJECT)
            names.update(s.name for s in symbols if s.section and s.kind in kinds)
    if not names:
        raise BuildError(f"{build}/lib has no shared library: build first")
    return names


# The loader calls what is in it; those of sanitizers have a priority, which their section names.
_CONSTRUCTORS = ".init_array"


def _walk(objects, roots):
    """The reached (object, section) pairs."""
    globals_ = collections.defaultdict(list)
    for number, obj in enumerate(objects):
        for symbol in obj.symbols:
            if symbol.section and not symbol.is_local:
                globals_[symbol.name].append((number, symbol.section))
    todo = [place for name in roots for place in globals_[name]]
    for number, obj in enumerate(objects):
        if _CONSTRUCTORS in obj.sections:
            todo.append((number, obj.sections.index(_CONSTRUCTORS)))
    reached = set(todo)
    while todo:
        number, section = todo.pop()
        for symbol in objects[number].edges.get(section, ()):
            places = [(number, symbol.section)] if symbol.section else globals_[symbol.name]
            for place in places:
                if place not in reached:
                    reached.add(place)
                    todo.append(place)
    return reached


class Function(NamedTuple):
    path: str
    name: str


_TYPE = re.compile(r"^(?:typedef )?(?:struct|enum|union) (\w+) \{(.*?)^\}", re.M | re.S)
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n]*\\\n)*[^\n]*)", re.M)
_TABLE = re.compile(r"^[^\n;(){}]*?\b(\w+)(?:\[[^\]]*\])*[ \t]*=([^;]*);", re.M)
_PASTE = re.compile(r"\w+(?:\s*##\s*\w+)+")


def _pasted_names(macro):
    """Yields patterns of the names that ## makes in a macro, given from its parameters on."""
    parameters = set(_WORD.findall(macro[: macro.find(")")])) if macro.startswith("(") else set()
    for match in _PASTE.finditer(macro):
        parts = re.split(r"\s*##\s*", match[0])
        if not parameters.issuperset(parts):
            yield re.compile("".join(r"\w+" if p in parameters else re.escape(p) for p in parts))


class Sources:
    """The text of the C files of src/, examples/ and bpf/, cut into what has a name."""

    def __init__(self, root):
        self.texts = {
            path.relative_to(root).as_posix(): path.read_text(encoding="utf-8")
            for folder in (*FOLDERS, "bpf", "include")
            for path in sorted((root / folder).rglob("*.[ch]"))
        }
        self.functions = {}  # Function -> its words
        self.tags = collections.defaultdict(set)  # enum or struct -> names in it
        # Macro, type or table -> its words; those of a .c file are known there only.
        self.words_of = collections.defaultdict(set)
        self._pasted = []  # (key of a macro in words_of, pattern of the names that its ## makes)
        for path, text in self.texts.items():
            self._read(path, text)
        names = {function.name for function in self.functions}
        for key, pattern in self._pasted:
            self.words_of[key].update(filter(pattern.fullmatch, names))

    def _read(self, path, text):
        code = csource.without_comments(text)
        end = 0
        for function in csource.functions(text):
            start = max(end, code.rfind(";", end, function.start), code.rfind("}", end, function.start))
            words = set(_WORD.findall(code, start, function.end))
            words.discard(function.name)
            self.functions.setdefault(Function(path, function.name), set()).update(words)
            end = function.end
        for pattern in (_TYPE, _MACRO, _TABLE):
            for match in pattern.finditer(code):
                words = _WORD.findall(match[2])
                key = (path if path.endswith(".c") else "", match[1])
                self.words_of[key].update(words)
                if pattern is _MACRO:
                    self._pasted += ((key, p) for p in _pasted_names(match[2]))
                if pattern is _TYPE:
                    self.tags[match[1]].update(w for w in words if w.isupper())


class Graph:
    """What of a source tree the product reaches, by one build of it."""

    def __init__(self, root, build):
        self.root, self.build = pathlib.Path(root), pathlib.Path(build)
        self.sources = Sources(self.root)
        self.objects = _objects(self.root, self.build)
        self._symbols = collections.defaultdict(set)  # name -> {(source, is reached)}
        reached = _walk(self.objects, {"main"} | _exported(self.build))
        for number, obj in enumerate(self.objects):
            for symbol in obj.symbols:
                if symbol.section and symbol.kind in (_STT_FUNC, _STT_OBJECT):
                    name = symbol.name.split(".")[0]
                    if not _MADE.match(symbol.name):
                        is_reached = (number, symbol.section) in reached
                        self._symbols[name].add((obj.source, is_reached, symbol.kind))
        self.built = {obj.source for obj in self.objects}
        self._close()

    def _in_symbols(self, path, name):
        """True or False as the objects say; None where they have no such symbol."""
        found = self._symbols.get(name, ())
        if path.endswith(".c"):
            found = [f for f in found if f[0] == path]
        elif Function(path, name) in self.sources.functions:
            # Not what another file calls so for itself.
            found = [f for f in found if Function(f[0], name) not in self.sources.functions]
        return any(f[1] for f in found) if found else None

    def _close(self):
        """Collects the words of what is reached until nothing more is reached by them."""
        self.reached = set()
        self._words = collections.defaultdict(set)  # file -> words in what is reached; "": all
        todo = set(self.sources.functions)
        unopened = dict(self.sources.words_of)
        while True:
            new = {f for f in todo if self._is_function_reached(f)}
            for function in new:
                self._add_words(function.path, self.sources.functions[function])
            self.reached |= new
            todo -= new
            opened = [key for key in unopened if key[1] in self._words[key[0]]]
            for key in opened:
                self._add_words(key[0], unopened.pop(key))
            if not new and not opened:
                return

    def _add_words(self, path, words):
        self._words[path] |= words
        self._words[""] |= words

    def _is_mentioned(self, path, name):
        return name in self._words[path if path.endswith(".c") else ""]

    def _is_function_reached(self, function):
        path, name = function
        if path.startswith("bpf/"):
            return True
        known = self._in_symbols(path, name)
        if known is None and (path in self.built or path.endswith(".h")):
            return self._is_mentioned(path, name)
        return bool(known)

    @functools.cached_property
    def _files(self):
        """Files with a reached function, and what they include."""
        files = {path for path, _ in self.reached}
        for path in list(files):
            included = re.findall(r'^#include "([^"]+)"', self.sources.texts[path], re.M)
            files.update(f"src/{name}" for name in included)
            files.update(f"{path.rpartition('/')[0]}/{name}" for name in included)
        return files

    def is_live(self, path, name):
        """Does the product reach what is called `name` in the file `path`; None is the file?

        A function counts if it is reached, its declaration as the function itself, a datum if a
        reached function or datum refers to it. What leaves no symbol (macro, type, enumerator,
        field) counts if a reached function mentions it, itself or through a macro, type or table.
        A file counts if a function in it is reached, a header also if such a file includes it.
        """
        if name is None:
            return path in self._files or path.startswith("bpf/")
        if Function(path, name) in self.sources.functions:
            return Function(path, name) in self.reached
        known = self._in_symbols(path, name)
        if known is not None:
            return known
        names = {name} | self.sources.tags.get(name, set())
        return path.startswith("bpf/") or any(self._is_mentioned(path, n) for n in names)

    def unreached(self):
        """The functions of src/ that no entry point reaches, sorted."""
        found = set()
        for function in set(self.sources.functions) - self.reached:
            if function.path.startswith("src/") and (
                function.path.endswith(".h") or function.path in self.built
            ):
                found.add(function)
        known = {name for _, name in self.sources.functions}
        for name, places in self._symbols.items():
            for source, is_reached, kind in places:
                # Functions that macros write have a symbol, but no text of their own.
                if kind == _STT_FUNC and not is_reached and name not in known:
                    found.add(Function(source, name))
        return sorted(f for f in found if not f.path.startswith("examples/"))
