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
    "if (a & (1 + 1) && least >= (int)LIMIT)",
    "if (a & 1 && least > (int)LIMIT)",
    "if (a & 1 && least >= (int)(LIMIT + 1))",
    ";",
    ";",
    "case 3: return rows[(0 + 1)];",
    "i == &l->first;",
    "return false;",
]
PROGRAM = """static int given(int a)
{
\tint n = 0;

\tfor (int i = 0; i < a; i++)
\t\tn += i == 2 ? 10 : 1;
\treturn n;
}

int main(int argc, char **argv)
{
\treturn argc == 1 ? given(3) : argv[1] == 0;
}
"""


def sites(text):
    return mutate.sites("src/core/c.c", text, mutate.constants_of(text))


def finds():
    made = [site.made for site in sites(TEXT)]
    return [] if made == MADE else [f"made {made}"]


def outcome(program, number):
    environment = {} if number is None else {"MRC_MUTANT": str(number)}
    return subprocess.run([program], env=environment, timeout=10).returncode


def works():
    """Each fault of a program changes what it returns, and without one it is as it was."""
    numbered = list(enumerate(sites(PROGRAM)))
    numbered = [(n, site) for n, site in numbered if site.function == "given"]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "core").mkdir()
        (root / "core/mutant.h").write_text(mutate.HEADER)
        (root / "switch.c").write_text(mutate.SWITCH % {"count": 100})
        (root / "program.c").write_text(mutate.instrument(PROGRAM, numbered))
        subprocess.run(["cc", f"-I{root}", "-o", root / "program", root / "program.c", root / "switch.c"], check=True)
        right = outcome(root / "program", None)
        same = [site.made for n, site in numbered if outcome(root / "program", n) == right]
    problems = [] if right == 12 else [f"without a fault: {right}"]
    return problems + [f"no difference: {made}" for made in same]


CASES = {"mutate__finds": finds, "mutate__works": works}

if __name__ == "__main__":
    tap.main(list(CASES.items()))
