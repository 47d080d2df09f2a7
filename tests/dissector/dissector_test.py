# SPDX-License-Identifier: BSD-2-Clause
"""dissector_test.py MRC WRITE_BW SCRIPT_RUN: what tshark reads with the dissector.

Four judges that share no code with it: the wire vectors field by field, `mrc dump` packet by packet on captures
of the simulator, of live programs and of a lab, the words of scripts on captures of these, and packets made here that
break one rule each.
"""
import json
import os
import pathlib
import struct
import shutil
import subprocess
import sys
import tempfile
import time

import captures
import script_captures
import tshark

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tidy"))
import tap  # noqa: E402
from tree import Skip  # noqa: E402

MRC, WRITE_BW, SCRIPT_RUN = sys.argv[1:4]
WORK = tempfile.TemporaryDirectory()
EXPERT, ICRC = "_ws.expert.message", "mrc.icrc.status"
GOOD, BAD, NOT_TOLD = 0, 1, 2


def path(name):
    return pathlib.Path(WORK.name) / name


def needs_tshark(case):
    def run():
        if why := tshark.missing():
            raise Skip(why)
        return case()
    return run


# ---- the wire vectors ----

def expected_fields(vector):
    """Field -> number, as the vector's maker has them."""
    headers = vector["headers"]
    fields = {f"mrc.{h}.{name}": value for h, found in headers.items() for name, value in found.items()}
    if "seth" in headers:  # the two share their place
        fields.pop("mrc.seth.ack_psn_offset" if headers["seth"]["pr"] else "mrc.seth.probe_id", None)
    return {name: int(v, 0) if isinstance(v, str) else v for name, v in fields.items()}


def vectors_equal_field_by_field():
    known = captures.vectors()
    wanted = [expected_fields(v) for v in known]
    names = sorted(set().union(*wanted))
    captures.write(path("vectors.pcap"))
    rows = tshark.read(path("vectors.pcap"), [*names, ICRC])
    problems = [] if len(rows) == len(known) else [f"{len(rows)} packets of {len(known)}"]
    for vector, want, row in zip(known, wanted, rows):
        problems += [f"{vector['name']}: {name} is {row[name]}, want {value}" for name, value in want.items()
                     if not row[name] or tshark.number(row[name]) != value]
        problems += [f"{vector['name']}: {name} is {row[name]}, is not in the packet" for name in names
                     if name not in want and row[name] and not name.startswith("mrc.bth.")]
        # The DSCP of a vector may be that of a trimmed packet, which has no ICRC.
        if row[ICRC] and tshark.number(row[ICRC]) != GOOD:
            problems.append(f"{vector['name']}: the ICRC is right, tshark says {row[ICRC]}")
    return problems


def installed_capture_has_todays_vectors():
    captures.write(path("today.pcap"))
    same = captures.CAPTURE.read_bytes() == path("today.pcap").read_bytes()
    return [] if same else [f"{captures.CAPTURE} is of other vectors: run tests/dissector/captures.py"]


def icrc_finds_each_changed_byte():
    packet = next(bytes.fromhex(v["full"]["packet"]) for v in captures.vectors()
                  if v["name"] == "write_first_2")
    masked = {1, 8, 10, 11, 26, 27, 32}  # class, TTL, checksums, the byte of the BTH that may change
    places = [at for at in range(20, 60) if at not in (22, 23, 24, 25, 28)]  # ports, length, opcode: another packet
    changed = [packet[:at] + bytes([packet[at] ^ 1]) + packet[at + 1:] for at in places]
    tshark.write_pcap(path("changed.pcap"), changed)
    rows = tshark.read(path("changed.pcap"), [ICRC])
    return [f"byte {at}: {row[ICRC]}" for at, row in zip(places, rows)
            if tshark.number(row[ICRC]) != (GOOD if at in masked else BAD)]


# ---- captures of scripts, beside the words of these ----

def scripts_as_they_are_written():
    return script_captures.problems(SCRIPT_RUN, path("scripts"))


# ---- captures, beside mrc dump ----

# Field of `mrc dump --json` -> field here and what makes one of the other.
SAME = {
    "dqp": ("mrc.bth.dqp", 1), "psn": ("mrc.bth.psn", 1), "rqmsn": ("mrc.meth.rqmsn", 1),
    "rkey": ("mrc.reth.rkey", 1), "dmalen": ("mrc.reth.dmalen", 1), "length": ("mrc.payload_length", 1),
    "imm": ("mrc.immdt.imm", 1), "invalidates": ("mrc.immdt.inv_rkey", 1), "read": ("mrc.immdt.read_length", 1),
    "syndrome": ("mrc.aeth.syndrome", 1), "cack": ("mrc.seth.cack_psn", 1), "base": ("mrc.seth.sack_offset", 1),
    "trigger": ("mrc.seth.ack_psn_offset", 1), "mpr": ("mrc.seth.mpr", 128), "ooo": ("mrc.seth.ooo_count", 1),
    "rcvd": ("mrc.seth.rcvd_bytes", 256), "penalty": ("mrc.seth.rcv_cwnd_pen", 1), "nack": ("mrc.neth.nack_psn", 1),
    "ports": ("mrc.erth.port_status_mask", 1), "va": ("mrc.reth.va", 1), "bitmap": ("mrc.seth.sack_bitmap", 1),
}
# Fields of several headers, of which a packet has one.
ONE_OF = {
    "ev": ("mrc.seth.entropy", "mrc.neth.entropy"), "probe": ("mrc.seth.probe_id", "mrc.peth.probe_id"),
    "spdcid": ("mrc.seth.spdcid", "mrc.neth.spdcid", "mrc.peth.spdcid"),
    "dpdcid": ("mrc.seth.dpdcid", "mrc.neth.dpdcid", "mrc.peth.dpdcid"),
    "msn": ("mrc.meth.msn", "mrc.aeth.msn"),
    "vendor": ("mrc.neth.vendor_info", "mrc.peth.vendor_info", "mrc.erth.vendor_info"),
    "ts": ("mrc.tseth.tx_timestamp", "mrc.seth.tx_timestamp", "mrc.neth.tx_timestamp", "mrc.peth.tx_timestamp",
           "mrc.erth.tx_timestamp", "mrc.eeth.tx_timestamp"),
}
CLASSES = ["no-trim", "trimmable", "trimmable-retx", "trimmed", "trimmed-lasthop", "control", "unknown"]
FIELDS = ["mrc.bth.opcode", "mrc.ev", "mrc.class", "mrc.srv6.usid", "mrc.srv6.segment_usid", "frame.number", "mrc.trigger", "mrc.response_to",
          "mrc.retransmission_of", ICRC, EXPERT, *(f for f, _ in SAME.values()),
          *(f for fs in ONE_OF.values() for f in fs)]


def dump(capture):
    done = subprocess.run([MRC, "dump", "--json", str(capture)], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def tunnel(said):
    return said.get("tunnel", {})


def differences(row, said):
    """Where tshark and mrc dump say different things of one packet."""
    mrc = said["mrc"]
    pairs = [("ev", said["ev"], row["mrc.ev"]), ("class", CLASSES.index(said["class"]), row["mrc.class"])]
    for name, (field, times) in SAME.items():
        # Of a packet that was cut, dump has zeros for headers that are gone.
        if name in mrc and (row[field] or not said["class"].startswith("trimmed")):
            value = int(mrc[name], 0) if isinstance(mrc[name], str) else mrc[name]
            pairs.append((name, value, [str(tshark.number(row[field]) * times)] if row[field] else []))
    for name, fields in ONE_OF.items():
        if name in mrc:
            pairs.append((name, mrc[name], next((row[f] for f in fields if row[f]), [])))
    found = [f"{name}: tshark {values}, mrc dump {value}" for name, value, values in pairs
             if not values or tshark.number(values) != value]
    for field, wanted in (("usid", said.get("usids") or tunnel(said).get("usids", [])),
                          ("segment_usid", tunnel(said).get("segment", []))):
        usids = [int(u, 0) for u in row[f"mrc.srv6.{field}"]]
        if usids != wanted:
            found.append(f"{field}: tshark {usids}, mrc dump {wanted}")
    return found


# What a sender or a fabric may do, and the receiver's answers to it.
EVENTS = {"Retransmission", "The receiver lacks the packet", "A switch trimmed the packet",
          "A switch marked the packet: congestion experienced",
          # Wireshark of IPv6: MRC has the ICRC instead (RFC 6936), and captures of sockets have no checksum.
          "Illegal checksum value (0)"}


def compare(capture, wanted_opcodes):
    rows, said = tshark.read(capture, FIELDS), dump(capture)
    mine = [row for row in rows if row["mrc.bth.opcode"]]
    theirs = [s for s in said if "mrc" in s]
    if len(mine) != len(theirs) or not mine:
        return [f"tshark finds {len(mine)} packets, mrc dump {len(theirs)}"]
    problems = []
    for row, packet in zip(mine, theirs):
        found = differences(row, packet)
        found += [message for text in row[EXPERT] for message in text.split(",") if message not in EVENTS]
        if not packet["class"].startswith("trimmed") and [str(GOOD)] != row[ICRC]:
            found.append(f"ICRC {row[ICRC]}")
        problems += [f"frame {row['frame.number'][0]}, {packet['mrc']['opcode']}: {text}" for text in found]
    lacking = wanted_opcodes - {p["mrc"]["opcode"] for p in theirs}
    return problems[:20] + ([f"the capture has no {sorted(lacking)}"] if lacking else [])


def answered_psn(row):
    """The PSN that a NACK, or a SACK that answers no probe, is about."""
    if row["mrc.neth.nack_psn"]:
        return tshark.number(row["mrc.neth.nack_psn"])
    return (tshark.number(row["mrc.seth.cack_psn"]) + tshark.number(row["mrc.seth.ack_psn_offset"])) % 2**24


def linked(capture):
    """A SACK or NACK names the frame that it answers, by PSN; an answer to a probe its probe."""
    rows = {row["frame.number"][0]: row for row in tshark.read(capture, FIELDS)}
    problems, counted = [], {"trigger": 0, "response_to": 0, "retransmission_of": 0}
    for frame, row in rows.items():
        for kind in counted:
            for target in row[f"mrc.{kind}"]:
                counted[kind] += 1
                other = rows[target]
                if kind == "retransmission_of":
                    same = other["mrc.bth.psn"] == row["mrc.bth.psn"]
                elif kind == "response_to":
                    same = other["mrc.peth.probe_id"] == row["mrc.seth.probe_id"]
                else:
                    same = tshark.number(other["mrc.bth.psn"]) == answered_psn(row)
                if not same:
                    problems.append(f"frame {frame}: {kind} {target} is another packet")
    return problems, counted


def simulate(name, links, *settings):
    capture = path(f"{name}.pcapng")
    words = [MRC, "sim", "run", name, "--quiet", "--capture", str(capture),
             "--set", f"output.capture_links={json.dumps(links)}"]
    for setting in settings:
        words += ["--set", setting]
    subprocess.run(words, check=True, capture_output=True)
    return capture


INCAST = ("workload.0.group_size=8", "workload.0.bytes=100K")


def simulator__an_incast_that_is_trimmed():
    capture = simulate("check-incast", ["host0.e0", "host1.e0"], *INCAST)
    return compare(capture, {"WRITE_FIRST", "WRITE_MIDDLE", "SACK", "NACK"})


def simulator__a_sick_link_over_several_hops():
    capture = simulate("fault-loss-ev", ["host0.e0", "host0.e3", "plane0.t0-0.u0", "plane0.t0-0.d0"],
                       "workload.0.bytes=512K", "output.capture_packets=3000")
    return compare(capture, {"WRITE_MIDDLE", "SACK"})


def simulator__answers_name_what_they_answer():
    problems, counted = linked(simulate("check-incast", ["host0.e0", "host1.e0", "plane0.t0-0.d1"], *INCAST))
    problems += [f"{kind}: {n} found" for kind, n in counted.items() if n == 0 and kind != "response_to"]
    return problems


TRIES, BETWEEN_S, PATIENCE_S = 600, 0.1, 180


def live_capture(name, server, client):
    """What the server of two programs on loopback sends and receives."""
    capture = path(f"{name}.pcapng")
    environment = os.environ | {"MRC_PORTS": "127.0.0.1", "MRC_STATS_DIR": WORK.name}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    waits = subprocess.Popen(server, env=environment | {"MRC_CAPTURE": str(capture)}, **quiet)
    try:
        for _ in range(TRIES):  # the server may not listen yet
            if subprocess.run(client, env=environment, check=False, timeout=PATIENCE_S, **quiet).returncode == 0:
                waits.wait(timeout=PATIENCE_S)
                return capture
            if waits.poll() is not None:
                break
            time.sleep(BETWEEN_S)
        raise RuntimeError(f"{server} and {client} do not run")
    finally:
        waits.kill()
        waits.wait()


def perftest(program):
    """A program of perftest over the drop-in, whose packets are the extension's."""
    if not shutil.which(program):
        raise Skip(f"no {program} here (tools/deps check installs it)")
    words = [MRC, "run", "--", program, "-d", "mrc0", "-F", "-n", "50"]
    words += [] if "atomic" in program else ["-s", "10000"]
    return live_capture(program, words, [*words, "127.0.0.1"])


def live__writes_on_loopback():
    return compare(live_capture("write_bw", [WRITE_BW], [WRITE_BW, "127.0.0.1", "--max", "16k", "--ms", "1"]),
                   {"WRITE_FIRST", "WRITE_LAST", "WRITE_ONLY_IMM", "SACK", "ACK"})


def live__sends():
    return compare(perftest("ib_send_bw"), {"SEND_FIRST", "SEND_MIDDLE", "SEND_LAST", "PROBE"})


def live__reads():
    return compare(perftest("ib_read_bw"),
                   {"READ_REQUEST", "READ_RESPONSE_FIRST", "READ_RESPONSE_LAST", "RESPONSE_SACK", "RESPONSE_ACK"})


def live__atomics():
    return compare(perftest("ib_atomic_bw"), {"FETCH_ADD", "ATOMIC_RESPONSE"})


LAB_SERVER, LAB_CLIENT, LAB_ADDRESS = "host3", "host0", "10.0.1.2"


def lab(*words):
    done = subprocess.run([MRC, "lab", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"mrc lab {' '.join(words)}: {done.stderr.strip()}")


def lab__writes_while_a_plane_is_silent():
    """Tunnels of SRv6 as a host of a lab sends and receives them: no packet that tshark cannot read."""
    if os.geteuid() != 0:
        raise Skip("a lab needs root here")
    name, capture = f"dissect{os.getpid()}", path("lab.pcapng")
    try:
        lab("up", "tiny", "--name", name)
    except RuntimeError as error:
        raise Skip(f"no lab here: {error}") from error
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    shell = [MRC, "lab", "shell", name]
    server = subprocess.Popen([*shell, LAB_SERVER, "--", WRITE_BW], env=os.environ | {"MRC_CAPTURE": str(capture)},
                              **quiet)
    try:
        client = [*shell, LAB_CLIENT, "--", WRITE_BW, LAB_ADDRESS, "--min", "4k", "--max", "8k", "--ms", "30"]
        for _ in range(TRIES):  # the server may not listen yet
            lab("fault", name, "plane0", "stall", "--for", "60ms")
            if subprocess.run(client, check=False, timeout=PATIENCE_S, **quiet).returncode == 0:
                server.wait(timeout=PATIENCE_S)
                if not any("tunnel" in said for said in dump(capture)):
                    return ["the capture has no tunnel of SRv6"]
                return compare(capture, {"WRITE_FIRST", "WRITE_LAST", "SACK"})
            time.sleep(BETWEEN_S)
        raise RuntimeError("write_bw does not run on a lab")
    finally:
        server.kill()
        server.wait()
        subprocess.run([MRC, "lab", "down", name], check=False, **quiet)


# ---- captures of the conformance kit, a case each ----

TARGET, KIT = "127.0.0.1", "127.0.0.2"


def conform_captures(folder):
    """The kit against an endpoint of ours; what it says as JSON."""
    environment, at = os.environ | {"MRC_PORTS": TARGET, "MRC_STATS_DIR": WORK.name}, 20000 + os.getpid() % 20000
    quiet = {"stdout": subprocess.PIPE, "text": True, "env": environment}
    with subprocess.Popen([MRC, "conform", "--serve", "--once", "--port", str(at)], **quiet) as server:
        try:
            server.stdout.readline()
            done = subprocess.run([MRC, "conform", "--json", "--from", KIT, "--patience", "5s", "--pcap", folder,
                                   f"{TARGET}:{at}"], check=True, timeout=PATIENCE_S * 2, **quiet)
        finally:
            server.kill()
    return json.loads(done.stdout)


def conform__a_capture_of_each_case():
    """What both sent: of the target's packets each is right, of the kit's the ICRC of all but the one that is to be wrong."""
    folder = path("conform")
    said = conform_captures(folder)
    cases = {row["name"] for row in said["cases"] if not row["name"].startswith("all-")}
    files = sorted(folder.glob("*.pcap"))
    problems = [f"captures and cases differ: {sorted(cases ^ {file.stem for file in files})}"] if (
        cases != {file.stem for file in files}) else []
    tshark.join_pcaps(path("conform.pcap"), files)
    rows = tshark.read(path("conform.pcap"), ["ip.src", "mrc.bth.opcode", ICRC, EXPERT, "_ws.expert.severity"])
    theirs = [row for row in rows if row["ip.src"] == [TARGET]]
    for row in theirs:
        judged = [m for m, severity in zip(row[EXPERT], row["_ws.expert.severity"]) if int(severity) >= script_captures.WARNING]
        if row[ICRC] != [str(GOOD)] or [m for m in judged if not m.startswith("The message was refused")]:
            problems.append(f"the target sent {row}")
    wrong = sum(row[ICRC] == [str(BAD)] for row in rows)
    problems += [] if wrong == 1 else [f"{wrong} packets of the kit have a wrong ICRC, want the one of icrc-wrong"]
    problems += [] if len(theirs) > 400 else [f"{len(theirs)} packets of the target, want more"]
    return problems[:20]


# ---- packets that break a rule ----

CONTROL, NO_TRIM, TRIMMABLE, TRIMMED = 46, 0, 4, 12
METH_RETH = bytes(4) + bytes(12) + struct.pack(">I", 64)
TS_FLAG = 0x10


def seth(cack=100, first=0, cc=0):
    return struct.pack(">HHIHHII", first, 0, 0, 0x3456, 0, cack, cc << 28) + bytes(16)


def neth(reason, psn=100, cc=2):
    return struct.pack(">HBBIHHIBBH", 0, reason, 0, 0, 0x3456, 0, psn, cc << 4, 0, 0)


def violations():
    """Text of the expert information -> a packet with that fault, and no other."""
    ipv4, bth = tshark.ipv4, tshark.bth
    psns = iter(range(200, 300))  # a PSN seen twice would be a retransmission

    def data(**bits):
        return bth(0xCA, psn=next(psns), **bits) + METH_RETH

    return {
        "The packet ends inside its headers": ipv4(data()[:-4], TRIMMABLE),
        "The transport version is not 0": ipv4(data(first=1), TRIMMABLE),
        "The pad is longer than what follows the headers": ipv4(data(first=0x30), TRIMMABLE),
        "A control packet has bytes behind its headers": ipv4(bth(0xD1) + b"\x1f\0\0\0" + bytes(4), CONTROL),
        "Type and next header are not 0": ipv4(bth(0xDC) + seth(first=0x1000), CONTROL),
        "The frame type is not 1": ipv4(
            bth(0xCA, psn=next(psns), marks=TS_FLAG) + bytes(4) + struct.pack(">I", 2) + METH_RETH[4:], TRIMMABLE),
        "The ICRC is wrong": ipv4(data(), TRIMMABLE)[:-1] + b"\0",
        "The DSCP is not one of the packet's class": ipv4(data(), CONTROL),
        "Reserved bits are set": ipv4(data(marks=0x40), TRIMMABLE),
        "The syndrome is none that MRC sends": ipv4(bth(0xD1) + b"\x3f\0\0\0", CONTROL),
        "The reason is none of MRC 1.0": ipv4(bth(0xDD) + neth(0x40), CONTROL),
        "The CC type is not that of this header": ipv4(bth(0xDC) + seth(cc=3), CONTROL),
        "The PSN of the BTH is not cack_psn": ipv4(bth(0xDC) + seth(cack=99), CONTROL),
        "The PSN of the BTH is not nack_psn": ipv4(bth(0xDD) + neth(1, psn=99), CONTROL),
        "A path mark that is undefined": ipv4(bth(0xDC) + seth(first=0x60), CONTROL),
        "An endpoint packet goes to QP 2": ipv4(bth(0xD9) + bytes(36), CONTROL),
        "The operation is undefined": ipv4(bth(0xD9, qpn=2) + b"\0\x0c" + bytes(34), CONTROL),
        "The operation is in bits 5:4": ipv4(bth(0xD9, qpn=2) + b"\0\x10" + bytes(34), CONTROL),
        "The message was refused: the QP ends": ipv4(bth(0xD1) + b"\x62\0\0\0", CONTROL),
        "A switch trimmed the packet": ipv4(data()[:16], TRIMMED, whole=False),
    }


def violations_are_named():
    made = violations()
    tshark.write_pcap(path("violations.pcap"), made.values())
    problems = []
    for text, row in zip(made, tshark.read(path("violations.pcap"), ["mrc.bth.opcode", EXPERT, "mrc.expert.nacked"])):
        said = [m for m in "|".join(row[EXPERT]).split("|") if m and not m.startswith("The receiver lacks")]
        if len(said) != 1 or not said[0].startswith(text):
            problems.append(f"{text}: tshark says {said}")
    return problems


def usids_without_an_inner_header():
    """Whose GID a list of uSIDs stands for is known when it has sent; what is wrong then, is."""
    a, b = bytes.fromhex("fd6d7263000000000000000000000001"), bytes.fromhex("fd6d7263000000000000000000000002")
    usids = bytes.fromhex("fcbbbb01a00000020000000000000000")

    def one(source, destination, psn, qpn):
        return tshark.ipv6_to_usids(tshark.bth(0xCA, psn=psn, qpn=qpn) + METH_RETH, TRIMMABLE, source, destination, usids)
    good = one(a, b, 400, 7)
    packets = [good, one(b, a, 401, 8), one(a, b, 402, 7), one(a, b, 403, 7)[:-1] + b"\0"]
    tshark.write_pcap(path("usids.pcap"), packets)
    rows = tshark.read(path("usids.pcap"), [ICRC, "mrc.ev", "mrc.srv6.usid"])
    got = [(tshark.number(row[ICRC]), tshark.number(row["mrc.ev"]), row["mrc.srv6.usid"]) for row in rows]
    want = [(state, 49152 << 16, ["0xa000", "0x0002"]) for state in (NOT_TOLD, GOOD, GOOD, BAD)]
    return [] if got == want else [f"{got}, want {want}"]


GIDS = [bytes.fromhex("fd6d72630000000000000000000000" + last) for last in ("01", "02")]
# A list of two uSIDs, of the last one, of six and of none; and what is no list, for something is behind a zero.
LISTS = [bytes.fromhex("fcbbbb01" + rest) for rest in ("a0000002" + "00" * 8, "0002" + "00" * 10, "100120023003400450056006",
                                                      "00" * 12, "a000" + "0000" + "0007" + "00" * 6)]
SEGMENT = bytes.fromhex("fcbbbb01" + "7007" + "8008" + "00" * 8)


def usid_carriers():
    """Name -> (packet, EV, uSIDs, uSIDs of the segment): each form of a carrier, with EVs whose low half is 0 and is not."""
    psns, made = iter(range(500, 600)), {}

    def data():
        return tshark.bth(0xCA, psn=next(psns)) + METH_RETH
    for flow in (0, 0x1203):
        ev = 49152 << 16 | flow
        for n, usids in enumerate(LISTS):
            fields = [int.from_bytes(usids[at:at + 2], "big") for at in range(4, 16, 2)]
            want = fields[:(fields + [0]).index(0)]
            want = want if not any(fields[len(want):]) else []
            # Its own destination of the inner header, so that the ICRC is right.
            inner = tshark.ipv6_to_usids(data(), TRIMMABLE, *GIDS, GIDS[1], flow)
            made[f"tunnel {n}, flow {flow}"] = tshark.tunnel(inner, TRIMMABLE, GIDS[0], usids), ev, want, []
            made[f"plain {n}, flow {flow}"] = (tshark.ipv6_to_usids(data(), TRIMMABLE, *GIDS, usids, flow), ev, want, [])
            for left, rest in ((1, [0x7007, 0x8008]), (0, [])):
                inner = tshark.ipv6_to_usids(data(), TRIMMABLE, *GIDS, GIDS[1], flow)
                made[f"segment {n}, left {left}, flow {flow}"] = (
                    tshark.tunnel(inner, TRIMMABLE, GIDS[0], usids, SEGMENT, left), ev, want, rest)
    made["IPv6, EV of 16 bits"] = tshark.ipv6_to_usids(data(), TRIMMABLE, *GIDS, GIDS[1]), 49152, [], []
    made["IPv6, EV of 32 bits"] = tshark.ipv6_to_usids(data(), TRIMMABLE, *GIDS, GIDS[1], 7), 49152 << 16 | 7, [], []
    return made


def carriers_of_usids_beside_mrc_dump():
    """Every form of a path: with and without an inner header, with a segment that is left and one that is used up."""
    made = usid_carriers()
    tshark.write_pcap(path("carriers.pcap"), [packet for packet, *_ in made.values()])
    rows, said = tshark.read(path("carriers.pcap"), FIELDS), dump(path("carriers.pcap"))
    if not len(rows) == len(said) == len(made):
        return [f"tshark reads {len(rows)} packets, mrc dump {len(said)}, of {len(made)}"]
    problems = []
    for (name, (_, ev, usids, segment)), row, packet in zip(made.items(), rows, said):
        got = (packet["ev"], packet.get("usids") or tunnel(packet).get("usids", []), tunnel(packet).get("segment", []))
        found = [] if got == (ev, usids, segment) else [f"mrc dump says {got}, want {(ev, usids, segment)}"]
        if "mrc" not in packet or not row["mrc.bth.opcode"]:
            found.append("is not read")
        else:
            found += differences(row, packet)
        if row[ICRC] == [str(BAD)]:
            found.append("tshark says that the ICRC is wrong")
        problems += [f"{name}: {text}" for text in found]
    return problems[:20]


# ---- what is not MRC's ----

def other_protocols_keep_their_ports():
    deth = tshark.bth(0x64) + struct.pack(">II", 0x11111111, 7) + bytes(4)
    dns = struct.pack(">HHHHHH", 0, 0x8400, 0, 0, 0, 0)
    tshark.write_pcap(path("others.pcap"), [tshark.ipv4(deth, NO_TRIM),
                                            tshark.ipv4(dns, NO_TRIM, whole=False, port=5353)])
    rows = tshark.read(path("others.pcap"), ["frame.protocols", "infiniband.deth.srcqp"])
    want = ["infiniband", "mdns"]
    return [f"want {w}, tshark says {row['frame.protocols']}" for w, row in zip(want, rows)
            if w not in row["frame.protocols"][0]]


def another_port_and_dscp_map():
    packet = tshark.ipv4(tshark.bth(0xCA) + METH_RETH, 20, port=9000)
    tshark.write_pcap(path("another.pcap"), [packet])
    fields = ["mrc.bth.opcode", "mrc.class", EXPERT]
    (plain,) = tshark.read(path("another.pcap"), fields)
    (row,) = tshark.read(path("another.pcap"), fields, "-o", "mrc.port:8999", "-o", "mrc.dscp:0,20,8,12,16,46")
    problems = [f"without preferences: {plain}"] if plain["mrc.bth.opcode"] else []
    if not row["mrc.bth.opcode"] or row["mrc.class"] != ["1"] or row[EXPERT]:
        problems.append(f"with preferences: {row}")
    return problems


tap.main([(case.__name__, needs_tshark(case)) for case in (
    vectors_equal_field_by_field, installed_capture_has_todays_vectors, icrc_finds_each_changed_byte,
    scripts_as_they_are_written, simulator__an_incast_that_is_trimmed, simulator__a_sick_link_over_several_hops, simulator__answers_name_what_they_answer, live__writes_on_loopback,
    live__sends, live__reads, live__atomics, lab__writes_while_a_plane_is_silent, conform__a_capture_of_each_case, violations_are_named,
    usids_without_an_inner_header, carriers_of_usids_beside_mrc_dump, other_protocols_keep_their_ports, another_port_and_dscp_map)])
