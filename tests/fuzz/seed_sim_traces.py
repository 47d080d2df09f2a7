#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tests/fuzz/seed_sim_traces.py: writes the seed corpus of fuzz_sim_traces.

Each seed is a schedule in GOAL, as text or binary, or traces of Chakra; good ones, and ones that are
refused.
"""
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent / "corpus" / "sim_traces"
GOAL, CHAKRA_OF_ALL, CHAKRA_OF_TWO = b"\0", b"\1", b"\2"

PING = """num_ranks 2
/* two
 lines */ rank 0 { // begins
l1: calc 1000 cpu 0
l2: send 4096b to 1 tag 7 nic 1
l2 requires l1
l3: recv 8192b from 1 tag 9
l4: calc 500 cpu 1
l4 irequires l3
}
rank 1 {
l1: recv 4096b from 0 tag 7
l2: send 8192b to 0 tag 9
l2 requires l1
}
"""


def goal_text():
    yield "ping", PING
    yield "to_itself", "num_ranks 2\nrank 0 {\nsend 8b to 0\nrecv 8b from 0\n}\n"
    yield "empty_rank", "num_ranks 16\nrank 15 {\n}\n"
    yield "crlf", PING.replace("\n", "\r\n")
    yield "unmatched", PING.replace("tag 9\nl2", "tag 8\nl2")
    yield "too_short", PING.replace("8192b from", "8191b from")
    yield "in_circles", PING.replace("l2 requires l1\nl3", "l1 requires l3\nl2 requires l1\nl3")
    yield "waits_for_itself", PING.replace("l4 irequires l3", "l4 irequires l4")
    yield "twice", PING + "rank 0 {\n}\n"
    yield "label_twice", PING.replace("l4: calc", "l3: calc")
    yield "no_label", PING.replace("requires l3", "requires l9")
    yield "from_any", PING.replace("from 0 tag 7", "from -1 tag 7")
    yield "cut_off", PING[:-3]
    yield "in_comment", PING + "/* and so on"
    yield "zero_byte", PING.replace("cpu 0", "\0cpu 0")
    yield "words", "num_ranks 2 3 4\nrank " + "0 " * 20
    for n, what in enumerate(("calc 2592000000000000", "calc 99999999999999999999", "calc -1", "calc",
                              "calc 1 cpu 16", "send 4294967296b to 1", "send 1 to 1", "send 1b to 2",
                              "send 1b to 1 tag 4294967296", "recv 1b from 1 nic 256", "wait 5", ":", "{")):
        yield f"odd_{n:02}", "num_ranks 2\nrank 0 {\n" + what + "\n}\n"


def goal_binary(parts, *, ranks=None, begin=None):
    """parts: of each rank its operations, (type, peer, size, tag, cpu, nic, waits, starts)."""
    body, table = b"", b""
    head = 6 + 16 * len(parts)
    for operations in parts:
        entries, ops = [], b""
        for kind, peer, size, tag, cpu, nic, waits, starts in operations:
            ops += struct.pack("<IBIQIBB", 0, kind, peer, size, tag, cpu, nic)
            for some in (waits, starts):
                ops += struct.pack("<II", len(some), len(entries))
                entries += some
        part = struct.pack("<III", len(operations), 1, 0) + ops + struct.pack(f"<{len(entries)}I", *entries)
        at = begin if begin is not None else head + len(body)
        table += struct.pack("<QQ", at, head + len(body) + len(part))
        body += part
    return struct.pack("<QIBB", 4223, ranks or len(parts), 1, 1) + table + body


def goal_binaries():
    ping = [[(3, 0, 1000, 0, 0, 0, [1], []), (1, 1, 4096, 7, 0, 1, [], [2]), (3, 0, 5, 0, 1, 0, [], [])],
            [(2, 0, 4096, 7, 0, 0, [], [])]]
    whole = goal_binary(ping)
    yield "ping", whole
    yield "cut_head", whole[:12]
    yield "cut_table", whole[:40]
    yield "cut_part", whole[:-9]
    yield "more_ranks", goal_binary(ping, ranks=3)
    yield "too_many_ranks", goal_binary(ping, ranks=1 << 31)
    yield "parts_overlap", goal_binary(ping, begin=38)
    yield "begins_behind", goal_binary(ping, begin=1 << 40)
    yield "no_such_dependent", goal_binary([[(3, 0, 1, 0, 0, 0, [5], [])], []])
    yield "no_such_type", goal_binary([[(4, 0, 1, 0, 0, 0, [], [])], []])
    yield "in_circles", goal_binary([[(3, 0, 1, 0, 0, 0, [0], [])], []])


def varint(n):
    out = b""
    while n > 0x7F:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def text(field, what):
    what = what if isinstance(what, bytes) else what.encode()
    return varint(field << 3 | 2) + varint(len(what)) + what


def attribute(name, value, field=9):
    return text(10, text(1, name) + (text(29, value) if isinstance(value, str) else number(field, value)))


def node(n, kind, us=0, deps=(), name="n", **attributes):
    out = number(1, n) + text(2, name) + number(3, kind) + number(7, us)
    out += b"".join(number(5, d) for d in deps)
    return out + b"".join(attribute(k, v) for k, v in attributes.items())


def trace(*nodes, head=text(1, "0.0.4")):
    return b"".join(varint(len(m)) + m for m in (head, *nodes))


def of_two(first, second):
    assert len(first) < 1 << 16
    return struct.pack("<H", len(first)) + first + second


def chakra_of_all():
    for kind in range(11):
        yield f"collective_{kind}", trace(node(1, 4, 20), node(2, 7, 0, [1], comm_type=kind, comm_size=4096))
    group = trace(node(1, 7, comm_type=0, comm_size=100, pg_name="0"),
                  node(2, 7, comm_type=6, comm_size=100, pg_name="1"),
                  node(3, 7, comm_type=0, comm_size=100, pg_name="0"))
    yield "groups", group
    yield "long_name", trace(node(1, 7, comm_type=0, comm_size=1, pg_name="g" * 60))
    for n, said in enumerate((
            '[\'[{"pg_name": "0", "ranks": []}, {"pg_name": "1", "ranks": [3, 1, 0, 2]}]\']',
            '[{"pg_name": "1", "ranks": [0, 1, 2, 3]}, {"pg_name": "1", "ranks": [0, 1, 2, 3]}]',
            '{"1": [0, 1, 2, 3]}', '{"1": [0, 1]}', '{"1": [0, 0]}', '{"1": [4]}', '{"1": 4}', '{"1": ["a"]}',
            '[{"ranks": []}]', "[7]", "['']", "")):
        yield f"groups_{n:02}", trace(
            node(4, 1, name="## process_group:init ##") + text(8, text(1, said)),
            node(1, 7, comm_type=0, comm_size=100, pg_name="1"), node(2, 7, comm_type=0, comm_size=100))
    yield "streams", trace(node(1, 4, 5, is_cpu_op=1), node(2, 4, 5), node(3, 2, 9), node(4, 3, 9), node(5, 1, 9))
    yield "sends", trace(node(1, 5, comm_dst=1, comm_size=8))
    yield "nothing", trace()
    yield "empty_messages", b"\0\0\0"
    yield "empty_head", trace(node(1, 4, 1), head=b"")
    yield "length_cut", trace(node(1, 4, 1)) + b"\x80\x80"
    yield "length_endless", trace(node(1, 4, 1)) + b"\xff" * 9
    yield "length_large", trace(node(1, 4, 1)) + varint(1 << 26)
    yield "type_0", trace(node(1, 0))
    yield "id_twice", trace(node(1, 4), node(1, 4))
    yield "no_such_id", trace(node(1, 4, 0, [9]))
    yield "in_circles", trace(node(1, 4, 1, [2]), node(2, 4, 1, [1]))
    yield "packed", trace(node(1, 4, 1), node(2, 4, 1) + text(4, b"\1") + text(5, b"\1\1"))
    yield "long_ago", trace(node(1, 4, 1 << 63))
    yield "longest", trace(node(1, 4, 2591999999999))
    yield "other_fields", trace(node(1, 4) + b"\x39" + bytes(8) + b"\x3d" + bytes(4) + text(8, text(1, "[]")))
    yield "field_cut", trace(number(1, 1) + b"\x52\x7f")
    yield "wire_type", trace(number(1, 1) + b"\x53")


def chakra_of_two():
    send = trace(node(5, 4, 3), node(6, 5, 0, [5], comm_size=4096, comm_dst=1, comm_tag=2))
    recv = trace(node(1, 6, comm_size=4096, comm_src=0, comm_tag=2), node(2, 4, 7) + text(4, b"\1"))
    yield "ping", of_two(send, recv)
    yield "unmatched", of_two(send, send)
    yield "one_empty", of_two(send, b"")
    reduce = node(1, 7, comm_type=0, comm_size=100)
    yield "agreed", of_two(trace(reduce), trace(reduce))
    yield "other_bytes", of_two(trace(reduce), trace(node(1, 7, comm_type=0, comm_size=99)))
    yield "not_all", of_two(trace(reduce), trace(reduce, node(2, 7, comm_type=0, comm_size=100)))
    yield "to_nobody", of_two(trace(node(1, 5, comm_size=4, comm_dst=2)), recv)
    yield "negative", of_two(trace(node(1, 5, comm_size=4, comm_dst=(1 << 64) - 1)), recv)


def main():
    CORPUS.mkdir(parents=True, exist_ok=True)
    for kind, first, some in (("goal", GOAL, goal_text()), ("binary", GOAL, goal_binaries()),
                              ("all", CHAKRA_OF_ALL, chakra_of_all()), ("two", CHAKRA_OF_TWO, chakra_of_two())):
        for name, content in some:
            content = content if isinstance(content, bytes) else content.encode()
            (CORPUS / f"{kind}_{name}").write_bytes(first + content)


if __name__ == "__main__":
    main()
