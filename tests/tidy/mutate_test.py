# SPDX-License-Identifier: BSD-2-Clause
"""Shows which faults tools/mutate.py makes of C text, and that the text that holds them all compiles and works."""
import pathlib
import subprocess
import tempfile

import run  # adds tools/ to the path
import tap

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


def works():
    """Each fault of a program changes what it returns, and without one it is as it was."""
    kinds = mutate.ALL | {"sign"}
    found = [site for site in mutate.sites("src/core/c.c", PROGRAM, set(), kinds) if site.function == "given"]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "base").mkdir()
        (root / "base/mutant.h").write_text(mutate.HEADER)
        (root / "switch.c").write_text(mutate.switch({"src/core/c.c": FIRST}, FIRST + len(found)))
        (root / "program.c").write_text(mutate.instrument(PROGRAM, found))
        subprocess.run(["cc", f"-I{root}", "-o", root / "program", root / "program.c", root / "switch.c"], check=True)
        right = outcome(root / "program", None)
        same = [site.made for n, site in enumerate(found, FIRST) if outcome(root / "program", n) == right]
        reached = root / "reached"
        reached.write_bytes(bytes(FIRST + len(found)))
        subprocess.run([root / "program"], env={"MRC_MUTANT_REACHED": str(reached)}, timeout=10)
        came_by = reached.read_bytes()
    problems = [] if right == 13 else [f"without a fault: {right}"]
    if came_by != bytes(FIRST) + b"\1" * len(found):
        problems.append(f"came by {came_by}")
    return problems + [f"no difference: {made}" for made in same]


CASES = {"mutate__finds": finds, "mutate__finds_in_adapters": finds_in_adapters, "mutate__works": works}

if __name__ == "__main__":
    tap.main(list(CASES.items()))
