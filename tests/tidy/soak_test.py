# SPDX-License-Identifier: BSD-2-Clause
"""Shows what tests/soak/samples.py calls a leak."""
import sys

import run
import tap

sys.path.insert(0, str(run.ROOT / "tests/soak"))
import samples

EVERY_S = 5
HALF_AN_HOUR, A_MINUTE = range(0, 1800, EVERY_S), range(0, 60, EVERY_S)
# Nothing is open at the moment of one late sample.
CLOSED_S = 1500


def series(what, times, value):
    made = samples.Series("steady-client", what)
    for at in times:
        made.add(at, float(value(at)))
    return made


def expect(flat, what, times, value):
    made = series(what, times, value)
    return [] if made.is_flat() == flat else [made.text()]


def leak(a_minute, least, open_more):
    """So many a minute, and less while the device is closed."""
    return lambda at: least + a_minute * at // 60 + (0 if at == CLOSED_S else open_more)


def descriptors():
    return expect(False, "fds", HALF_AN_HOUR, leak(1, 8, 30))


def memory():
    return expect(False, "rss", HALF_AN_HOUR, leak(100, 12000, 8000))


def heap():
    return expect(False, "heap", HALF_AN_HOUR, leak(256, 30176, 0))


def none():
    return expect(True, "fds", HALF_AN_HOUR, leak(0, 8, 14)) + expect(True, "rss", HALF_AN_HOUR, leak(0, 12000, 8000))


def few_that_jump():
    return expect(True, "fds", A_MINUTE, lambda at: 20 if at in (20, 50) else 20 + at // 15)


def few_that_rise():
    return expect(False, "fds", A_MINUTE, lambda at: 20 + at // 15)


CASES = {
    "soak__a_descriptor_a_minute": descriptors,
    "soak__memory_that_grows": memory,
    "soak__a_heap_that_grows": heap,
    "soak__no_leak": none,
    "soak__few_samples_that_jump": few_that_jump,
    "soak__few_samples_that_rise": few_that_rise,
}

if __name__ == "__main__":
    tap.main(list(CASES.items()))
