# SPDX-License-Identifier: BSD-2-Clause
"""The runner must notice every way in which a row can fail: selftest.py MRC [RUNTIME]

RUNTIME is that of the sanitizer with which the drop-in was built, if it was."""
import os
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tidy")]
import counters  # noqa: E402
import process_group  # noqa: E402
import rows  # noqa: E402
import runner  # noqa: E402
import tap  # noqa: E402

MRC = str(pathlib.Path(sys.argv[1]).resolve())
# For programs that were built without sanitizers.
SANITIZED = {"LD_PRELOAD": sys.argv[2], "ASAN_OPTIONS": "detect_leaks=0"} if sys.argv[2:] else {}


def run(command, **keys):
    """The result of one row."""
    row = rows.Row(family="selftest", command=command, package="ibverbs-utils", verified="nobody", **keys)
    with tempfile.TemporaryDirectory() as work:
        place = runner.Place(mrc=MRC, work=pathlib.Path(work))
        if "LD_PRELOAD" in os.environ:
            place.env["LD_PRELOAD"] = os.environ["LD_PRELOAD"]
        return runner.run(row, place)


def want(result, state, text=""):
    """Raises when a result is not this."""
    if result.state == state and text in result.reason:
        return []
    return [f"is {result.state}: {result.reason!r}, not {state}: {text!r}", *result.tail]


def good():
    return want(run("sh -c 'echo 3 4 bytes'", expect=["bytes"], figure=[r"(\d) bytes", r"\1 B"]),
                runner.OK)


def status():
    return want(run("sh -c 'exit 3'"), runner.FAILED, "status 3")


def killed_by_a_signal():
    return want(run("sh -c 'kill -9 $$'"), runner.FAILED, "signal 9")


def too_long():
    begin = time.monotonic()
    problems = want(run("sleep 60", limit=1), runner.FAILED, "still running after 1 s")
    return problems + (["it waited too long"] if time.monotonic() - begin > 30 else [])


def output():
    return want(run("true", expect=["bytes"]), runner.FAILED, "no 'bytes'")


def bytes_that_nobody_placed():
    return want(run("sh -c 'echo 3 4 bytes'", claims=r"^(\d) (\d) bytes"), runner.FAILED,
                "claims 12 bytes, rx_data_bytes + ud_rx_bytes is 0")


def claims_that_are_not_there():
    return want(run("true", claims=r"(\d) bytes"), runner.FAILED, "no bytes")


def not_installed():
    return want(run("no_such_program_anywhere"), runner.SKIP, "not installed: no_such_program")


def does_not_build():
    return want(run("true", build="sh -c 'echo broken; exit 1'"), runner.FAILED, "does not build")


def skip_by_its_output():
    return want(run("sh -c 'echo without ibverbs; exit 1'", skip_if=["without ibverbs", "built so"]),
                runner.SKIP, "built so")


def server_that_does_not_listen():
    return want(run("true", server="true"), runner.FAILED, "does not listen")


def server_that_fails():
    listen = "python3 -c 'import socket; s = socket.create_server((\"\", {port})); s.accept(); exit(4)'"
    connect = "python3 -c 'import socket; socket.create_connection((\"{address}\", {port}))'"
    return want(run("python3", server=listen, client=connect), runner.FAILED, "server ended with status 4")


def bad_paths_that_nobody_took():
    return want(run("true", bad_paths=True), runner.FAILED, "faults hit [0, 0, 0, 0] frames")


def bad_paths():
    # Its two ends say good-bye over TCP, so that nobody leaves before the last answer has come.
    flags = "-F -d mrc0 -n 20000 -s 4096 -p {port}"
    return want(run("ib_write_bw", server="{command} " + flags, bad_paths=True, env=SANITIZED,
                    client="{command} " + flags + " {address}"), runner.OK)


def process_left_behind():
    process_group.GRACE_S, before = 1, process_group.GRACE_S
    try:
        return want(run("sh -c 'setsid sleep 60 &'"), runner.FAILED, "left running")
    finally:
        process_group.GRACE_S = before


def rows_that_are_wrong():
    problems = []
    for text, what in (("[a]\nrows = []", "no rows"),
                       ("[a]\nrows = [{essential = true}]", "needs a command"),
                       ("[a]\nrows = [{command = 'x'}]", "verifies data"),
                       ("[a]\nverified = 'no'\nrows = [{command = 'x', spare = 1}]", "no key 'spare'"),
                       ("[a]\nverified = 'no'\nrows = [{command = 3}]", "must be a str"),
                       ("[a]\nverified = 'no'\nrows = [{command = 'x', claims = '('}]", "no regular"),
                       ("[a]\nverified = 'no'\nrows = [{command = 'x'}, {command = 'x'}]", "twice"),
                       ("[a", "rows.toml")):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "rows.toml")
            path.write_text(text)
            try:
                rows.load(path)
                problems.append(f"accepted: {text}")
            except rows.RowsError as error:
                if what not in str(error):
                    problems.append(f"{text}: {error}")
    return problems


def counters_of_another_version():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "1.mrcstats")
        path.write_bytes(b"MRCSTATS" + (99).to_bytes(4, "little") + bytes(500000))
        try:
            counters.read_file(path)
        except counters.CountersError:
            return []
    return ["accepted"]


def counters_that_are_gone():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "1.mrcstats").symlink_to("nowhere")
        return [] if counters.read_folder(folder) == [] else ["read something"]


CASES = (good, status, killed_by_a_signal, too_long, output, bytes_that_nobody_placed,
         claims_that_are_not_there, not_installed, does_not_build, skip_by_its_output,
         server_that_does_not_listen, server_that_fails, bad_paths_that_nobody_took, bad_paths,
         process_left_behind, rows_that_are_wrong, counters_of_another_version,
         counters_that_are_gone)

if __name__ == "__main__":
    tap.main([(case.__name__, case) for case in CASES])
