# SPDX-License-Identifier: BSD-2-Clause
"""Shows which faults tools/mutate.py makes of C text, that the text that holds them all compiles and works, and that
tools/mutants_made.py asks of one all tests that come by it."""
import contextlib
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import run  # adds tools/ to the path
import tap
import tree

import mutants_made
import mutate

TEXT = """/* A comment: a < b. */
#include "core/c.h"
#define LIMIT 8u

int mt_f(int a, const int *b, struct list *l)
{
\tstatic const int rows[2] = {1, 2};
\tint least = a < *b ? a : *b, most = a < 9 ? 9 : a, over = a > *b ? a - *b : 0;
\tint apart = a > *b ? a - *b : *b - a;

\tmb_assert(a < 100);
\tif (a & 1 && least >= (int)LIMIT)
\t\tmt_note(l, a);
\telse
\t\tl->ops->call(&l->first);
\tswitch (a) {
\tcase 3:
\t\treturn rows[0];
\t}
\tfor (struct list *i = l->next; i != &l->first; i = i->next)
\t\t*b ? mt_one(i) : mt_two(i);
\treturn true;
}

void mt_f_prefetch(const int *a)
{
\tmb_prefetch(a, 2 * 64);
}
"""
MADE = [
    "int least = a < *b ? a : *b, most = a < 9 ? (9 + 1) : a, over = a > *b ? a - *b : 0;",
    "int least = a < *b ? a : *b, most = a < 9 ? 9 : a, over = a > *b ? a - *b : (0 + 1);",
    "if (!(a & 1) && least >= (int)LIMIT)",
    "if (a & (1 + 1) && least >= (int)LIMIT)",
    "if (a & 1 && least > (int)LIMIT)",
    "if (a & 1 && least >= (int)(LIMIT + 1))",
    ";",
    ";",
    "case 3: return rows[(0 + 1)];",
    "i == &l->first;",
    "return false;",
]
# What adapters are made of: calls that fail below 0, texts.
ADAPTER = """#define ADD(text) \\\\
\tdo {            \\\\
\t\tadd(text); \\\\
\t} while (0)

int mio_f(int fd, const char *text)
{
\tif (fd < 0 || !text)
\t\treturn -1;
\twhile (read_one(fd, ")]}") && (text[0] == '(' || !is_last(text)))
\t\tclose(fd);
\tADD(text);
\treturn 0 <= fd;
}
"""
MADE_OF_ADAPTER = [
    "if (fd < 0 || !(!text))",
    "if (fd >= 0 || !text)",
    'while (!(read_one(fd, ")]}")) && (text[0] == \'(\' || !is_last(text)))',
    'while (read_one(fd, ")]}") && (text[0] != \'(\' || !is_last(text)))',
    ";",
    "return 0 < fd;",
]
PROGRAM = """static int given(int a)
{
\tint n = 0;

\tfor (int i = 0; i < a; i++)
\t\tn += i == 2 ? 10 : 1;
\tif (a)
\t\tn++;
\tif (a - 3 < 0)
\t\tn++;
\treturn n;
}

int main(int argc, char **argv)
{
\treturn argc == 1 ? given(3) : argv[1] == 0;
}
"""

# Functions of all shapes, each with a fault that somebody wrote.
SHAPES = """static int sum(const int a[3], int (*f)(int, int), int n)
{
\treturn n ? f(a[n - 1], sum(a, f, n - 1)) : 0; /* calls itself */
}

#define OPENS {

static inline void put(int *at, int value)
{
\t*at = value;
}

static int add(int a, int b)
{
\treturn a + b;
}

static const int *
three(void)
{
\tstatic const int all[3] = {1, 2, 3};

\treturn all;
}

int main(void)
{
\tint n = 0;

\tput(&n, sum(three(), add, 3));
\treturn n;
}
"""
WRITTEN = [("n - 1)) : 0", "n - 1)) : 40", 46), ("*at = value;", "", 0), ("a + b", "a - b", 2), ("1, 2, 3", "1, 2, 4", 7)]


# Of the program's faults; those before are of other files.
FIRST = 7


def sites(text):
    return mutate.sites("src/core/c.c", text, mutate.constants_of(text))


def finds():
    made = [site.made for site in sites(TEXT)]
    return [] if made == MADE else [f"made {made}"]


def finds_in_adapters():
    kinds = {"call", "comparison", "condition", "sign"}
    made = [site.made for site in mutate.sites("src/io/f.c", ADAPTER, set(), kinds)]
    return [] if made == MADE_OF_ADAPTER else [f"made {made}"]


def outcome(program, number):
    environment = {} if number is None else {"MRC_MUTANT": str(number)}
    return subprocess.run([program], env=environment, timeout=10).returncode


@contextlib.contextmanager
def built(text, found):
    """A program with these faults in it."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "base").mkdir()
        (root / "base/mutant.h").write_text(mutate.HEADER)
        (root / "switch.c").write_text(mutate.switch({"src/core/c.c": FIRST}, FIRST + len(found)))
        (root / "program.c").write_text(mutate.instrument(text, found))
        subprocess.run(["cc", f"-I{root}", "-o", root / "program", root / "program.c", root / "switch.c"], check=True)
        yield root / "program"


def works():
    """Each fault of a program changes what it returns, and without one it is as it was."""
    kinds = mutate.ALL | {"sign"}
    found = [site for site in mutate.sites("src/core/c.c", PROGRAM, set(), kinds) if site.function == "given"]
    with built(PROGRAM, found) as program:
        right = outcome(program, None)
        same = [site.made for n, site in enumerate(found, FIRST) if outcome(program, n) == right]
        reached = program.parent / "reached"
        reached.write_bytes(bytes(FIRST + len(found)))
        subprocess.run([program], env={"MRC_MUTANT_REACHED": str(reached)}, timeout=10)
        came_by = reached.read_bytes()
    problems = [] if right == 13 else [f"without a fault: {right}"]
    if came_by != bytes(FIRST) + b"\1" * len(found):
        problems.append(f"came by {came_by}")
    return problems + [f"no difference: {made}" for made in same]


def works_as_written():
    """Each fault that somebody wrote makes of the program what it says, and without one it is as it was."""
    found = [mutate.variant("src/core/c.c", SHAPES, f"fault_{number}", (SHAPES.index(old), len(old), new))
             for number, (old, new, _) in enumerate(WRITTEN)]
    right = [(None, 6), *((FIRST + number, result) for number, (_, _, result) in enumerate(WRITTEN))]
    with built(SHAPES, found) as program:
        return [f"{number}: {actual}, want {result}" for number, result in right
                if (actual := outcome(program, number)) != result]


def refuses():
    """What is outside of a function cannot be planted so."""
    try:
        mutate.variant("src/core/c.c", TEXT, "limit", (TEXT.index("8u"), 2, "9u"))
    except ValueError as error:
        return [] if "limit: src/core/c.c" in str(error) else [str(error)]
    return ["a constant outside of functions is taken"]


class Dear:
    """A test that comes by every fault, takes long, and notices those of a number."""

    def __init__(self, name, noticed):
        self.name, self.noticed, self.cost, self.reached = name, noticed, 1000, b"\1" * 4

    def notices(self, number):
        return number == self.noticed


def asks_all():
    """A fault that is likely to survive has a budget; any other is asked of all tests, however long they take."""
    found = sites(TEXT)
    tests = [Dear("unit_x", 0), Dear("unit_y", 0), Dear("unit_z", 1)]
    judge = mutants_made.Judge(found, tests, {mutants_made.key(found[1])})
    judge.killers = {}
    slow = mutants_made.Judge(found, tests, set())
    slow.killers = {}
    actual = [judge(0), judge(1), slow(1), slow(2)]
    want = ["unit_x", None, "unit_z", None]
    return [] if actual == want else [f"noticed by {actual}, want {want}"]


def names_survivors():
    """What survived is a case each of TAP, on one line, with no mark that means anything there."""
    found = [site._replace(was='puts("#1");') for site in sites(TEXT)[:2]]
    lines = mutants_made.as_tap("", found).splitlines()
    problems = [] if lines[0] == "1..2" and len(lines) == 3 else [f"{lines}"]
    problems += [line for number, line in enumerate(lines[1:], 1)
                 if not line.startswith(f'not ok {number} - src/core/c.c: mt_f: puts("1"); became: ') or "#" in line]
    none = mutants_made.as_tap("src/io", [])
    return problems + ([] if none == "1..1\nok 1 - faults made by machine in src/io\n" else [none])


def refuses_mixed_flags():
    """Faults of two sorts in one call: one sort would be dropped without a word."""
    mixed = {"--sample 3 --draw 4": "--sample and --draw: want one of them",
             "--made --sample 3": "--made and --sample: want one of them",
             "--made --only a": "--made and --only: want one of them",
             "--seed 0": "--seed is for faults made by machine: want --made or --sample K with it"}
    problems = []
    for flags, said in mixed.items():
        run = subprocess.run([mutants_made.ROOT / "tools/mutants", *flags.split()], stderr=subprocess.PIPE, text=True)
        if run.returncode != 2 or not run.stderr.endswith(f"error: {said}\n"):
            problems.append(f"{flags}: status {run.returncode}, {run.stderr}")
    return problems


def confines():
    """A wrong program that ends its process group ends nobody's outside."""
    root = mutants_made.ROOT
    if not mutants_made.can_confine(mutants_made.AROUND):
        raise tree.Skip("no namespaces of its own for a test")
    outside = f"'{root}/tools/confined' '{root}' sh -c 'kill -9 0'; echo lives; exit 3"
    run = subprocess.run(["sh", "-c", outside], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    return [] if (run.returncode, run.stdout) == (3, "lives\n") else [f"status {run.returncode}, {run.stdout}"]


# A test that comes by two faults, notices the first and never ends at the other.
ENDLESS = """\
if [ "$MRC_MUTANT_REACHED" ]; then printf '\\1\\1' > "$MRC_MUTANT_REACHED"; exit 0; fi
[ "$MRC_MUTANT" = 0 ] && exit 1
echo $$ > pid.new && mv pid.new pid
exec sleep 1000
"""
TRY = """\
import pathlib, sys
sys.path[:0] = sys.argv[2:]
import mutants_made, mutants_stop, mutate, mutate_test
folder = pathlib.Path(sys.argv[1])

class Chosen(list):
    turns = 0

    def __iter__(self):
        self.turns += 1
        turn = self.turns
        for number in super().__iter__():
            yield number
            (folder / f"past {number} in turn {turn}").touch()

mutants_made.KILLERS = folder / "killers.json"
copy = mutants_made.Copy("mutants", folder / "copy")
copy.digest = ""
group = mutants_made.CORE._replace(copy=copy)
copy.path.mkdir()
test = {"name": "endless", "command": ["sh", "-c", mutate_test.ENDLESS],
        "properties": [{"name": "WORKING_DIRECTORY", "value": str(folder)}]}
mutants_stop.let_interrupt()
survived, noticed, tried = mutants_made.try_all(
    group, [test], mutate_test.sites(mutate_test.TEXT), Chosen([0, 1]), set(), set(), print)
print(len(survived), len(noticed), tried)
"""
PATIENCE_S = 60


def wait_for(path):
    end = time.monotonic() + PATIENCE_S
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.01)
    return path.read_text()


def lives(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def interrupted_by(number):
    """What is wrong with a run that is interrupted so, in a process that ignores it at first."""
    here = pathlib.Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.Popen(
            [sys.executable, "-B", "-c", TRY, folder, str(here), str(here.parent.parent / "tools")], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
        try:
            endless = int(wait_for(pathlib.Path(folder, "pid")))
            # The first turn hands the faults to threads, the second takes the verdicts.
            wait_for(pathlib.Path(folder, "past 0 in turn 2"))
            run.send_signal(number)
            said, _ = run.communicate(timeout=PATIENCE_S)
        finally:
            run.kill()
        return ([] if said == "interrupted\n0 1 1\n" else [f"{number}: {said}"]) + (
            [f"{number}: the test goes on"] if lives(endless) else [])


def stops():
    """A run that is interrupted ends its tests and says what is known, whoever started it."""
    return interrupted_by(signal.SIGINT) + interrupted_by(signal.SIGTERM)


def wants_all_cases():
    """A test in TAP that ends well before its last case has noticed the fault; one without TAP is judged by its status."""
    said = {"echo hello": None, "echo '1..2\nok 1 - a\nnot ok 2 # SKIP b'": None, "echo 'ok 1 - a\n1..1'": None,
            "exit 77": None, "echo 1..1; exit 77": "0 of 1 cases ended", "echo '1..2\nok 1 - a'": "1 of 2 cases ended",
            "echo '1..1\nok 1 - a\nok 2 - b'": "2 of 1 cases ended", "echo 'ok 1 - a'": "1 of 0 cases ended",
            "echo '1..2\nnot ok 1 - a'": "a", "echo '1..1\nok 1 - a'; exit 3": "status 3"}
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for script, want in said.items():
            described = {"name": "t", "command": ["sh", "-c", script],
                         "properties": [{"name": "WORKING_DIRECTORY", "value": folder}]}
            if (actual := mutants_made.Test(mutants_made.CORE, described).run({}, PATIENCE_S)) != want:
                problems.append(f"{script}: {actual}, want {want}")
    return problems


def names_what_was_not_tried():
    """Where a run was interrupted, a case more fails."""
    found = sites(TEXT)[:1]
    none, one = mutants_made.as_tap("", [], 3), mutants_made.as_tap("", found, 3)
    problems = [] if none == "1..1\nnot ok 1 - interrupted: 3 are not tried\n" else [none]
    if not one.startswith("1..2\nnot ok 1 - ") or not one.endswith("\nnot ok 2 - interrupted: 3 are not tried\n"):
        problems.append(one)
    return problems


CASES = {"mutate__stops": stops, "mutate__names_what_was_not_tried": names_what_was_not_tried, "mutate__wants_all_cases": wants_all_cases, "mutate__confines": confines, "mutate__asks_all": asks_all, "mutate__names_survivors": names_survivors, "mutate__finds": finds, "mutate__finds_in_adapters": finds_in_adapters, "mutate__works": works,
         "mutate__works_as_written": works_as_written, "mutate__refuses": refuses,
         "mutate__refuses_mixed_flags": refuses_mixed_flags}

if __name__ == "__main__":
    tap.main(list(CASES.items()))
