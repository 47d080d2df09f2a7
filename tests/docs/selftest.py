# SPDX-License-Identifier: BSD-2-Clause
"""What commands.py says of pages whose commands fail, promise too much, never end a page, or want what is missing; and page.py of
what is neither typed nor said of, and of tests that are none."""
import contextlib
import io
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tidy")]
import commands  # noqa: E402
import page as pages  # noqa: E402
import tap  # noqa: E402

FILES = {
    "tests/live/live_demo.c": '{"demo", "--script"}', "tests/live/cli.cmake": "softmrc_command_test(live_python LABELS live)\n",
    "tests/tidy/install_test.py": "def engine(self):\n    cc\n", "tests/deb/deb_test.py": "make deb",
    "tests/live/live_reader.c": "docs/page.md mrc", "Makefile": "all: x\ndeb:\n",
}


@contextlib.contextmanager
def tree(page):
    """A tree with some tests and one page."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**FILES, "docs/page.md": page}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        yield root


def judged(page, long=False):
    """The problems of each block of a page that is typed."""
    with tree(page) as root, contextlib.redirect_stdout(io.StringIO()):
        return [commands.problems_of(block) for block in commands.run_page(root, root, "docs/page.md", long)]


def looked_at(page):
    with tree(page) as root:
        return "\n".join(pages.look_at(root, "docs/page.md"))


def none(problems):
    return [str(problem) for problem in problems if problem]


def good():
    page = "```sh\nx=3\n```\ntext\n```sh\necho sent  $x packets, 0x1f; echo more; echo end 7.5 us; echo 2 MiB, 6343 of 34.2k\n```\n"
    return none(judged(page + "```text\nsent 12 packets, 0xabc\n...\nend ... s\n7.1 B, 34.2k of 17\n```\n"))


def status():
    """The last command is to end so, and the page goes on."""
    page = "<!-- status: 3 -->\n```sh\nfalse; (exit {})\n```\n```sh\necho on\n```\n```text\non\n```\n"
    wrong = judged(page.format(2))
    return none(judged(page.format(3))) + ([] if wrong[0] and not wrong[1] else [f"{wrong}"])


def file():
    """A block that is a file is there when the page is typed."""
    return none(judged("<!-- file: a.toml -->\n```toml\nx = 7\n```\n```sh\ncat a.toml\n```\n```text\nx = 7\n```\n"))


def long():
    """What takes long is typed where it is asked for."""
    page = "```sh\necho 1\n```\n<!-- long -->\n```sh\nfalse\n```\n"
    short, whole = judged(page), judged(page, long=True)
    return [] if (len(short), len(whole)) == (1, 2) and not short[0] and whole[1] else [f"{short}, {whole}"]


def needs():
    """What wants a program that is missing is not typed, and what is behind it is."""
    page = "<!-- needs: no-such-program -->\n```sh\nfalse\n```\n<!-- needs: memory:99999 -->\n```sh\nfalse\n```\n<!-- needs: python:sys sh memory:0 -->\n```sh\ntrue\n```\n"
    with tree(page) as root, contextlib.redirect_stdout(io.StringIO()):
        *left, typed = commands.run_page(root, root, "docs/page.md")
    good = all(block.status is None and commands.lacking(block) for block in left) and len(left) == 2 and typed.status == 0
    return [] if good else [f"{[block.status for block in (*left, typed)]}"]


LATE = """import socket, sys, time
time.sleep(float(sys.argv[1]))
listener = socket.create_server(("127.0.0.1", 0))
open("port", "w").write(str(listener.getsockname()[1]))
listener.accept()[0].sendall(b"served\\n")
"""


def server(late):
    """A page that starts a server, which listens so many seconds later, sleeps for less, and is a client of it."""
    client = "import socket; print(socket.create_connection((\"127.0.0.1\", int(open(\"port\").read()))).recv(9).decode())"
    return (f"<!-- file: serve.py -->\n```python\n{LATE}```\n```sh\nfalse & (python3 serve.py {late}) &\nsleep 0.01\n"
            f"python3 -c '{client}'\n```\n```text\nserved\n```\n")


def ready():
    """A sleep begins when the job before it listens, has ended, or computes; one in a job is as long as it says."""
    ended = "```sh\nfalse &\nsleep 0.01\n```\n"
    computes = "```sh\n(while :; do :; done) &\nsleep 0.01\nkill $!\n```\n"
    inner = "```sh\nsleep 100 & (sleep 0.01; echo slept)\n```\n```text\nslept\n```\n"
    return none([*judged(server(1.5)), *judged(ended), *judged(computes), *judged(inner)])


def not_ready():
    """A server that never listens is said, and ends the page."""
    commands.SECONDS_READY, before = 1, commands.SECONDS_READY
    try:
        said = f"{judged(server(60))}"
    finally:
        commands.SECONDS_READY = before
    return [] if "exit status 1" in said and "neither listens" in said else [said]


def refused(page, *want):
    """A case: the last block of the page has a problem that contains each text."""

    def case():
        said = "\n".join(judged(page)[-1])
        return [f"not said: {text}: {said!r}" for text in want if text not in said]

    return case


def looks(page, *want):
    """A case: of the page exactly so much is said, each with its text."""

    def case():
        said = looked_at(page).splitlines()
        if len(said) != len(want):
            return [f"wanted {len(want)}, said: {said}"]
        return [f"not said: {text}: {line}" for text, line in zip(want, said) if text not in line]

    return case


CASES = [
    ("good", good),
    ("status", status),
    ("file", file),
    ("long", long),
    ("needs", needs),
    ("ready", ready),
    ("not_ready", not_ready),
    ("fails", refused("```sh\necho before\nfalse\necho after\n```\n", "exit status 1", "before")),
    ("not_reached", refused("```sh\nfalse\n```\n```sh\necho two\n```\n", "not reached: echo two")),
    ("promise", refused("```sh\necho 4 lost\n```\n```text\n4 found\n```\n", "promised and not said: 4 found", "4 lost")),
    ("order", refused("```sh\necho a; echo b\n```\n```text\n...\nb\n...\na\n```\n", "promised and not said: a")),
    ("no_room", refused("```sh\necho a; echo x; echo b\n```\n```text\na\nb\n```\n", "promised and not said: b")),
    ("other_unit", refused("```sh\necho 4 MiB\n```\n```text\n3 ms\n```\n", "promised and not said: 3 ms")),
    ("word_for_number", refused("```sh\necho some lost\n```\n```text\n3 lost\n```\n", "promised and not said: 3 lost")),
    ("typed_by_nothing", looks("Text.\n\n    $ mrc lab up\n    lab is up\n", "docs/page.md: typed by nothing: mrc lab up")),
    ("fence_by_nothing", looks("```\nA=1 B= mrc stat\n```\n", "typed by nothing: A=1 B= mrc stat")),
    ("no_commands", looks("    [ports]\n    list = 3\n\nText.\n\n```text\nmrc lab up\n```\n")),
    ("typed", looks("```sh\nmrc plan paper\n```\n")),
    ("not_run", looks("<!-- not run: wants a GPU -->\n\n    mrc run -- ./program\n")),
    ("said_of_nothing", looks("<!-- not run: wants a GPU -->\n\n    a picture\n", "no command that might be run: a picture")),
    ("said_twice", looks("<!-- not run: why -->\n<!-- run by: live_demo -->\n\n    ./demo --script t1\n", "is said to be two things")),
    ("not_said_across_text", looks("<!-- not run: why -->\nText.\n\n    mrc top\n", "typed by nothing: mrc top")),
    ("run_by", looks("<!-- run by: live_demo, tests/deb tests/deb/deb_test.py -->\n\n    make deb    # nobody-says-this\n    ./demo --script=t1\n")),
    ("run_by_case", looks("<!-- run by: install__engine -->\n\n    cc x.c\n")),
    ("no_test", looks("<!-- run by: live_gone -->\n\n    mrc demo\n", "live_gone is no test")),
    ("no_case", looks("<!-- run by: install__cmake -->\n\n    cc x.c\n", "install__cmake is no test")),
    ("no_path", looks("<!-- run by: tools/torch -->\n\n    cc x.c\n", "tools/torch is no test")),
    ("built_alone", looks("<!-- run by: live_python -->\n\n    mrc --x\n", "live_python: nothing of `mrc --x` there")),
    ("word_lacks", looks("<!-- run by: live_demo -->\n\n    ./demo demo --scripts t1\n", "live_demo: nothing of `--scripts` there")),
    ("reads_the_page", looks("<!-- run by: live_reader -->\n\n    mrc --anything\n    ip link\n", "live_reader: nothing of `ip` there")),
    ("no_target", looks("Type `make deb`, `make debs`.\n", "make debs: no such target")),
]


if __name__ == "__main__":
    tap.main(CASES)
