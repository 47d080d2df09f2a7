# SPDX-License-Identifier: BSD-2-Clause
"""What a page shows to type: its blocks, what is typed of them, and what is said of the others.

A block ```sh is typed (commands.py); a block ```text behind it is what it promises. Lines of comment right before a block say more:

    <!-- needs: NAME... -->     skipped where one of these programs is missing, a module of Debian's Python,
                                python:NAME, or so many GiB of memory, memory:N
    <!-- status: N -->          the last command ends so
    <!-- long -->               typed by `make check-full` alone
    <!-- file: NAME -->         the block is no command but a file of this name, which later commands of the page find
    <!-- run by: TEST... -->    shown and not typed: these tests run it, and have together each of its words; one that reads the page, its program
    <!-- not run: REASON -->    shown and not typed, nor by any test

A block that has commands and is neither typed nor has one of the last two lines is a problem, and so is a test that is none
or lacks a word of a command.
"""
import re

COMMENT = re.compile(r"<!-- (needs|long|status|file|run by|not run)(?:: (.*?))? -->$")
FENCE = re.compile(r"```(\S*)$")
COMMAND = re.compile(
    r"^(?:\$ )?(?:\w+=\S* )*(?:nice )?(?:apt|apt-get|build/\S+|cc|cmake|ctest|curl|export|git|ip|kill|make|mpirun|mpirun\.mpich|mrc|mrcd|nft|podman"
    r"|printf|python3|srun|sysctl|tools/[\w-]+|tshark|\./\w+)(?: |$)")


class Block:
    """A block of a page: kind is what stands behind the fence, or "indented"."""

    def __init__(self, kind, notes, text):
        self.kind, self.text, self.promise, self.said, self.status = kind, text, "", "", None
        self.needs = notes.get("needs", "").split()
        self.wanted = int(notes.get("status", 0))
        self.long = "long" in notes
        self.file = notes.get("file")
        self.run_by = re.split(r"[\s,]+", notes["run by"]) if "run by" in notes else []
        self.not_run = notes.get("not run")

    def first(self):
        return self.text.strip().splitlines()[0].replace("#", "").strip()

    def typed(self):
        return self.kind == "sh" and not self.run_by and not self.not_run

    def commands(self):
        """The lines that are commands, without the comments behind them."""
        joined = self.text.replace("\\\n", " ")
        if self.kind == "text":
            return []
        return [re.sub(r"\s#.*", "", line).removeprefix("$ ") for line in joined.splitlines() if COMMAND.match(line)]


def blocks_of(page):
    """All blocks of a page, promises with the commands before them."""
    blocks, notes, lines = [], {}, page.splitlines() + [""]
    at = 0
    while at < len(lines):
        line, begin = lines[at], at
        at += 1
        comment, fence = COMMENT.match(line), FENCE.match(line.strip())
        if comment:
            notes[comment[1]] = comment[2] or ""
        elif fence:
            depth = len(line) - len(line.lstrip())
            while at < len(lines) and lines[at].strip() != "```":
                at += 1
            text = "".join(inner[depth:] + "\n" for inner in lines[begin + 1:at])
            at += 1
            if fence[1] == "text" and not notes and blocks and blocks[-1].kind == "sh":
                blocks[-1].promise += text
            else:
                blocks.append(Block(fence[1] or "plain", notes, text))
            notes = {}
        elif line.startswith("    "):
            while at < len(lines) and (not lines[at].strip() or lines[at].startswith("    ")):
                at += 1
            blocks.append(Block("indented", notes, "".join(inner[4:] + "\n" for inner in lines[begin:at]).rstrip("\n") + "\n"))
            notes = {}
        elif line.strip():
            notes = {}
    return blocks


def words_of(command):
    """What a test that runs a command must have of it: names and flags, no values, paths, variables and placeholders."""
    if command.startswith("export "):
        return []
    words = [word.partition("=")[0] if word.startswith("-") else word for word in re.split(r"[\s;&|()'\"]+", command)]
    return [word for word in words if re.fullmatch(r"(--?)?[a-z][a-z_-]*", word)]


def texts_of(root, test):
    """The files of a test, by the name that ctest or a page has for it: a path, a file, a case of a Python test, or lines of build files."""
    if "/" in test:
        path = root / test
        files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()] if path.is_dir() else []
        return [p.read_text(errors="replace") for p in files]
    name, _, case = test.partition("__")
    files = [p for p in root.glob(f"tests/**/{name}{'_test' if case else ''}.*") if p.suffix in (".c", ".py", ".rs", ".sh")]
    texts = [p.read_text() for p in files]
    if case:
        return [text for text in texts if f"def {case}(" in text]
    if not texts:
        built = [*root.glob("tests/**/CMakeLists.txt"), *root.glob("tests/**/*.cmake")]
        texts = [text for text in (p.read_text() for p in built) if re.search(rf"_test\({test}\b", text)]
    return texts


def untested(root, page, block):
    """What is wrong with the tests that a block names. One that reads the page has its words from there."""
    problems, known = [], ""
    if not block.run_by:
        return []
    for test in block.run_by:
        texts = texts_of(root, test)
        if not texts:
            problems.append(f"{test} is no test")
        known += "\n".join(texts)
    if problems:
        return problems
    for command in block.commands():
        words = words_of(command)
        if re.search(rf"\b{re.escape(page)}", known):
            words = words[:1]
        lacking = [word for word in words if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", known)]
        if lacking:
            problems.append(f"{' '.join(block.run_by)}: nothing of `{' '.join(lacking)}` there, of: {command}")
    return problems


def targets_missing(root, page):
    """Targets of `make` that a page names, in a block or in a sentence, and that the Makefile has not."""
    makefile = root / "Makefile"
    known = set(re.findall(r"^([\w-]+):", makefile.read_text(), re.M)) if makefile.exists() else set()
    named = re.findall(r"(?:`|^ {0,4}|\$ )make ([a-z][a-z-]*)", page, re.M)
    return [f"make {target}: no such target" for target in sorted({*named} - known)]


def look_at(root, page):
    """The problems of what a page shows and what its comments say."""
    text = (root / page).read_text()
    problems = targets_missing(root, text)
    for block in blocks_of(text):
        said = bool(block.run_by) + (block.not_run is not None) + (block.file is not None)
        if block.kind == "sh" and block.file is None and not said:
            continue
        if block.commands() and not said:
            problems.append(f"typed by nothing: {block.commands()[0]}")
        if said and not block.commands() and block.file is None:
            problems.append(f"has no command that might be run: {block.first()}")
        if said > 1:
            problems.append(f"is said to be two things: {block.first()}")
        problems += untested(root, page, block)
    return [f"{page}: {problem}" for problem in problems]


def pages_of(root):
    return [str(path.relative_to(root)) for path in sorted([*root.glob("*.md"), *root.glob("docs/*.md")])]
