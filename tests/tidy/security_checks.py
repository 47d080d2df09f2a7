# SPDX-License-Identifier: BSD-2-Clause
"""SECURITY.md: its numbers follow from the constants in the sources.

`python3 tests/tidy/security_checks.py` prints the table and the statements as they must be, and the lines of the
sources that their numbers are from. Another number on the page has to be in a phrase of NOT_OURS.
"""
import math
import pathlib
import re

PAGE = "SECURITY.md"
RATE = 10_000_000  # packets a second
LONG_YEARS = 1000
MINUTES = {5: "five"}
IPV4_UDP_BYTES = 28
# What is guessed -> where the constant is.
CONSTANTS = {
    "qpn_index": ("src/host/port/nic_ports.h", r"#define MH_QPN_INDEX_BITS (\d+)u"),
    "key_index": ("src/host/state/nic_context.h", r"#define MH_MR_INDEX_BITS (\d+)u"),
    "mpr": ("src/rdma/qp_attr.h", r"X\(MPR, uint8_t, mpr, (\d+),"),
    "mpr_unit": ("src/core/types.h", r"#define MT_MPR_UNIT (\d+)u"),
    "evs": ("src/host/config/env.c", r"\{MH_SET_EVS, \{[^}]*\}, (\d+),"),
    "unknown_gap": ("src/core/endpoint/endpoint.c", r"#define UNKNOWN_GAP_NS (\d+)u"),
    "bth": ("src/wire/headers.h", r"#define MW_BTH_BYTES (\d+)u"),
    "erth": ("src/wire/headers.h", r"#define MW_ERTH_BYTES (\d+)u"),
    "eeth": ("src/wire/headers.h", r"#define MW_EETH_BYTES (\d+)u"),
    "icrc": ("src/wire/packet.h", r"#define MW_ICRC_BYTES (\d+)u"),
    "unknown_burst": ("src/core/endpoint/endpoint.c", r"#define UNKNOWN_BURST (\d+)u"),
    "clients": ("src/mrcd/md_serve.h", r"#define MD_CLIENTS (\d+)u"),
    "clients_of_user": ("src/mrcd/md_serve.h", r"#define MD_CLIENTS_OF_USER (\d+)u"),
    "clients_kept": ("src/mrcd/md_serve.h", r"#define MD_CLIENTS_KEPT (\d+)u"),
    "requests_burst": ("src/mrcd/md_serve.h", r"#define MD_BURST (\d+)u"),
    "requests_rate": ("src/mrcd/md_serve.h", r"#define MD_RATE (\d+)u"),
    "request": ("src/mrcd/md_node.h", r"#define MD_REQUEST_MAX (\d+)u"),
    "answers_shift": ("src/mrcd/md_serve.h", r"#define MD_OUT_MAX \(1u << (\d+)\)"),
    "events_shift": ("src/mrcd/md_serve.h", r"#define MD_EVENTS_OUT_MAX \(1u << (\d+)\)"),
    "scrapes": ("src/exporter/http_server.c", r"#define CONNECTIONS (\d+)u"),
    "scrape_ns": ("src/exporter/http_server.c", r"#define LIFE_NS UINT64_C\((\d+)\)"),
    "scrape": ("src/exporter/exporter.h", r"#define STAT_REQUEST_MAX (\d+)u"),
    "probe_step_ns": ("src/map/probe_plan.h", r"#define MM_PROBE_STEP_NS UINT64_C\((\d+)\)"),
    "probe_steps": ("src/map/probe_plan.h", r"#define MM_PROBE_WAIT_STEPS (\d+)u"),
    "probes_taken": ("src/prober/probe_host.c", r"#define RECEIVED_PER_STEP (\d+)u"),
    "flood": ("src/conform/run.h", r"#define CF_FLOOD (\d+)u"),
    "kit_line": ("src/conform/serve_request.h", r"#define CONFORM_LINE_MAX (\d+)u"),
    "hints": ("src/store/store_hints.h", r"#define STORE_HINTS_MAX (\d+)u"),
    "hint_ns": ("src/store/store_hints.h", r"#define STORE_HINT_AGE_NS UINT64_C\((\d+)\)"),
    "hint_users": ("src/mrcd/md_hints.h", r"#define MD_HINTS_USERS (\d+)u"),
    "answer_mib": ("src/cli/map/prom_fetch.h", r"#define PROM_BYTES_MAX \((\d+)u << 20\)"),
    "answer_head": ("src/cli/map/prom_fetch.h", r"#define PROM_HEADER_BYTES_MAX (\d+)u"),
    "answer_ms": ("src/cli/map/prom_fetch.h", r"#define PROM_MS_MAX (\d+)u"),
    "routes_of_host": ("src/cli/map/prom_evidence.h", r"#define PROM_HOST_ROUTES_MAX (\d+)u"),
    "routes_shift": ("src/cli/map/prom_evidence.h", r"#define PROM_ROUTES_MAX \(1u << (\d+)\)"),
    "nonce": ("src/prober/probe_packet.h", r"uint(\d+)_t nonce;"),
    "udp_port": ("src/host/config/env.h", r"#define MH_UDP_PORT (\d+)u"),
    "slots": ("src/host/config/env.h", r"#define MH_SLOTS (\d+)u"),
    "probe_us": ("src/host/config/env.c", r"\{MH_SET_PROBE, ENV_US\(\d+, \d+, (\d+),"),
    "stats_mode": ("src/host/stats/stats_file.c", r"#define FILE_MODE 0(\d+)"),
    "stats_mode_group": ("src/host/stats/stats_file.c", r"#define FILE_MODE_GROUP 0(\d+)"),
    "folder_mode_group": ("src/host/stats/stats_file.c", r"#define DIR_MODE_GROUP 0(\d+)"),
    "capture_mode": ("src/io/capture_driver.c", r"#define FILE_MODE 0(\d+)"),
    "forged": ("tests/live/live_attacker.c", r"attack->wanted = \(uint32_t\)test_rounds\((\d+)\)"),
}
# Numbers that follow from no constant of ours.
NOT_OURS = (
    "What an administrator can do: 1. Make", " 2. Let only", " 3. Where that",  # a list
    "priority 0;", "skuid != { 0 }",  # nft's, and root
    "127.0.0.1", "(BCP 38,", "(watchers - 1) / 2",  # the last is docs/map.md's
    "memory window of type 2 the program chooses the low 8, and 24 remain",  # of the 32 bits of an R_Key
    "leaves of 24, and of 16 in a WRITE",  # a PSN, a message's number in a WRITE; requirements.toml
    "oldest message with PSN 0",
    "at 10 million packets a second",  # RATE: what one host is taken to send
    "`MRC_ROUNDS=10` sends a million", "`tools/fuzz --seconds 60 prober`", "Until 1.0",
)
# Goal, packet, what must be guessed of it.
ROWS = (
    ("end a QP", "WRITE without the right key", "qpn psn msn16"),
    ("end a QP", "NAK in a transport ACK", "qpn psn msn24"),
    ("end a QP", "NACK that the peer's QP has ended", "qpn peer psn ev"),
    ("messages complete that did not arrive", "transport ACK", "qpn psn msn24"),
    ("a packet is taken for received and not sent again", "SACK", "qpn peer psn"),
    ("a packet is taken for one that comes later", "WRITE of no bytes", "qpn psn msn16"),
    ("change memory", "WRITE", "qpn psn msn16 key"),
    ("have memory read; the answer goes to the peer", "READ", "qpn next msn key"),
)
NAMES = {
    "qpn": "QPN", "peer": "peer's QPN", "psn": "PSN", "next": "PSN", "msn16": "message", "msn24": "message",
    "msn": "message", "ev": "EV", "key": "key",
}
UNITS = ((365.25 * 86400, "years"), (86400, "days"), (3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "us"))


def sources(tree):
    """Name -> the match of its pattern; a name that is not found is missing."""
    found = {}
    for name, (path, pattern) in CONSTANTS.items():
        match = re.search(pattern, tree.text(path)) if (tree.root / path).is_file() else None
        if match:
            found[name] = match
    return found


def constants(tree):
    """Name -> value."""
    return {name: int(match[1]) for name, match in sources(tree).items()}


def bits(c):
    """What is guessed -> how many bits, with a window that is full of messages of one packet."""
    window = math.log2(c["mpr"] * c["mpr_unit"])
    return {
        "qpn": c["qpn_index"], "peer": c["qpn_index"], "psn": 24 - window, "next": 24, "msn16": 16 - window,
        "msn24": 24 - window, "msn": 16, "ev": math.log2(c["evs"]), "key": 32,
    }


def duration(exponent):
    """How long 2^exponent packets take, in two digits."""
    seconds = 2**exponent / RATE
    if seconds > LONG_YEARS * UNITS[0][0]:
        return f"over {LONG_YEARS:,} years"
    size, unit = next((u for u in UNITS if seconds >= u[0]), UNITS[-1])
    value = seconds / size
    digits = max(0, 1 - math.floor(math.log10(value)))
    rounded = round(value, 1 - math.floor(math.log10(value)))
    return f"{rounded:,.{digits}f} {unit}"


def table(c):
    """The rows of the table, as they must be."""
    sizes = bits(c)
    rows = []
    for goal, packet, parts in ROWS:
        names = parts.split()
        total = sum(sizes[n] for n in names)
        known = total - sizes["qpn"]
        guessed = " + ".join(f"{NAMES[n]} {sizes[n]:g}" for n in names)
        rest = duration(known) if known > 0 else "one packet"
        rows.append(f"| {goal} | {packet} | {guessed} | {total:g} | {duration(total)} | {rest} |")
    return rows


def sentences(c):
    """Other statements of the page that follow from constants."""
    gap, window = c["unknown_gap"], c["mpr"] * c["mpr_unit"]
    request, answer = (IPV4_UDP_BYTES + c["bth"] + c[header] + c["icrc"] for header in ("erth", "eeth"))
    return [
        f"the answer {answer} bytes (IPv4) and the request {request}",
        f"{1000 * answer / gap:g} MB a second from one process, {1000 * (answer - request) / gap:g} more than",
        f"{1_000_000_000 // gap:,} requests a second after a burst of {c['unknown_burst']:,}",
        f"a window of {window:,} packets",
        f"{c['evs']} EVs",
        f"10 random bits, an index of {c['key_index']}, 8 random bits",
        f"a user {c['clients_of_user']} of {c['clients']} connections, of which {c['clients_kept']} are for root and"
        f" CAP_NET_ADMIN, each {c['requests_burst']} requests at once and {c['requests_rate']:,} a second of less than {c['request']:,} bytes",
        f"{1 << c['answers_shift']:,} bytes of answers that he does not read, {1 << c['events_shift']:,} of events",
        f"{c['scrapes']} connections at a time, for {c['scrape_ns'] // 10**9} s each; a request of at most"
        f" {c['scrape']:,} bytes",
        f"each step of {c['probe_step_ns'] // 10**6} ms what it takes to throw {c['probes_taken']:,} packets away",
        f"within {c['probe_steps'] * c['probe_step_ns'] // 10**6} ms",
        f"{c['flood']:,} packets a case",
        f"a line is of at most {c['kit_line'] - 1} characters",
        f"{c['hints']:,} a user, {c['hint_users']} users, {MINUTES.get(c['hint_ns'] // (60 * 10**9))} minutes",
        f"an answer {c['answer_mib']} MiB, of which the tree of one at a time is kept, and {c['answer_head'] >> 10} KiB of"
        f" headers; {c['answer_ms'] // 1000} s for all; {c['routes_of_host']:,} routes a host and 2^{c['routes_shift']} in all",
        f"a nonce of {c['nonce']} random bits",
        f"its upper {24 - c['qpn_index']} bits, shows in the UDP port, which leaves {c['qpn_index']} bits",
        f"{c['udp_port']} + slot where it receives",
        f"at UDP port {c['udp_port']} + the number",
        f"udp dport {c['udp_port']}-{c['udp_port'] + c['slots'] - 1} ",
        f"ip_unprivileged_port_start={c['udp_port'] + c['slots']}",
        f"a plane for one round trip in {c['probe_us'] // 1000} ms",
        f"modes 0{c['stats_mode_group']} and 0{c['folder_mode_group']}",
        *(f"statistics and captures have mode 0{c[name]}" for name in ("stats_mode", "capture_mode")),
        f"sends {c['forged']:,} packets of all goals",
    ]


def unexplained(plain, explained):
    """Each number on the page that is in none of these, with what is around it."""
    for phrase in explained:
        plain = plain.replace(phrase, re.sub(r"\d", "_", phrase))
    return [plain[max(0, m.start() - 20):m.end() + 20] for m in re.finditer(r"(?<![\w.])\d[\d,.^]*", plain)]


def security_numbers(tree):
    """SECURITY.md has the rows and statements that follow from the constants, and no other row."""
    if not (tree.root / PAGE).is_file():
        return []
    c = constants(tree)
    missing = [f"{CONSTANTS[n][0]}: no '{CONSTANTS[n][1]}'" for n in CONSTANTS if n not in c]
    if missing:
        return missing
    text = tree.text(PAGE)
    plain = " ".join(text.split())
    rows = table(c)
    table_text = text.partition("| goal |")[2].partition("\n\n")[0]
    found = re.findall(r"^\| .*$", table_text, re.M)
    return (
        [f"{PAGE}: want {row}" for row in rows if row not in found]
        + [f"{PAGE}: no constants make {row}" for row in found if row not in rows]
        + [f"{PAGE}: want '{s}'" for s in sentences(c) if s not in plain]
        + [f"{PAGE}: a number that follows from nothing: '{s}'"
           for s in unexplained(plain, [*rows, *sentences(c), *NOT_OURS])]
    )


if __name__ == "__main__":
    from tree import Tree

    here = Tree(pathlib.Path(__file__).resolve().parent.parent.parent)
    print(*table(constants(here)), "", *sentences(constants(here)), "", "from", sep="\n")
    print(*(f"{CONSTANTS[name][0]}: {match[0]}" for name, match in sources(here).items()), sep="\n")
