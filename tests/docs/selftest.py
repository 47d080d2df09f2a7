# SPDX-License-Identifier: BSD-2-Clause
"""What commands.py says of pages whose commands fail, promise too much, never end a page, or want what is missing."""
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tidy")]
import commands  # noqa: E402
import tap  # noqa: E402


def judged(page):
    """The problems of each block of a page."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "page.md").write_text(page)
        return [block.problems() for block in commands.run_page(root, root, "page.md")]


def good():
    page = "```sh\nx=3\n```\ntext\n```sh\necho sent  $x packets, 0x1f; echo more; echo end 7.5 s\n```\n"
    promise = "```text\nsent 12 packets, 0xabc\n...\nend ... s\n```\n"
    return [p for problems in judged(page + promise) for p in problems]


def refused(page, *want):
    """A case: the last block of the page has a problem that contains each text."""

    def case():
        said = "\n".join(judged(page)[-1])
        return [f"not said: {text}: {said!r}" for text in want if text not in said]

    return case


def untold():
    """A page with a command that nobody types is named, and so is one that is said to have some."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "docs").mkdir()
        (root / "docs/new.md").write_text("Text.\n\n    $ mrc lab up\n    lab is up\n")
        (root / "docs/typed.md").write_text("```sh\nmrc plan paper\n```\n")
        (root / "docs/bare.md").write_text("    make\n")
        (root / "docs/env.md").write_text("```\nA=1 B= mrc stat\n```\n")
        (root / "docs/toml.md").write_text("    [ports]\n    list = 3\n")
        said = "\n".join(commands.untold(root, ["docs/typed.md"]))
    wanted = [*(f"docs/{name}.md: has commands" for name in ("new", "bare", "env")), "docs/plan.md has no commands"]
    problems = [f"not said: {text}: {said}" for text in wanted if text not in said]
    return problems + [line for line in said.splitlines() if "typed.md:" in line or "toml.md" in line]


def unknown_tests():
    """Of a tree with four of the tests that are named all others are missed."""
    files = {
        "tests/live/live_demo.c": "", "tests/live/cli.cmake": "softmrc_command_test(live_python LABELS live)\n",
        "tests/tidy/install_test.py": "def engine(self):\n", "tests/deb/deb_test.py": "",
    }
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        said = "\n".join(commands.unknown_tests(root))
    known = ("live_demo", "live_python", "install__engine", "tests/deb")
    missed = ("live_conform", "prometheus_map", "install__cmake", "tools/torch", "lab_drain")
    problems = [f"{name} is there: {said}" for name in known if f"{name} is no" in said]
    return problems + [f"{name} is not missed: {said}" for name in missed if f"{name} is no test" not in said]


CASES = [
    ("untold", untold),
    ("unknown_tests", unknown_tests),
    ("good", good),
    ("status", refused("```sh\necho before\nfalse\necho after\n```\n", "exit status 1", "before")),
    ("not_reached", refused("```sh\nfalse\n```\n```sh\necho two\n```\n", "not reached: echo two")),
    ("promise", refused("```sh\necho 4 lost\n```\n```text\n4 found\n```\n", "promised and not said: 4 found", "4 lost")),
    ("order", refused("```sh\necho a; echo b\n```\n```text\n...\nb\n...\na\n```\n", "promised and not said: a")),
    ("no_room", refused("```sh\necho a; echo x; echo b\n```\n```text\na\nb\n```\n", "promised and not said: b")),
    ("word_for_number", refused("```sh\necho some lost\n```\n```text\n3 lost\n```\n", "promised and not said: 3 lost")),
]


if __name__ == "__main__":
    tap.main(CASES)
