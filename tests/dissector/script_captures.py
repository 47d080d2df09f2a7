# SPDX-License-Identifier: BSD-2-Clause
"""The captures of tests/script: each packet has as its comment what a script writes for it, so what tshark reads in the
bytes is compared with that word by word, and its expert information with what the words mean."""
import subprocess

import tshark

SCRIPTS = tshark.ROOT / "tests/script/scripts"
REGION = 0x7000001000  # where the region of a script begins
PACKETS_LEAST = 5000
WARNING, COMMENT = 0x600000, "Comment"

# Word -> fields, of which a packet has one.
NUMBERS = {
    "psn": ("bth.psn",), "msn": ("meth.msn", "aeth.msn"), "rqmsn": ("meth.rqmsn",), "len": ("payload_length",),
    "dmalen": ("reth.dmalen",), "rkey": ("reth.rkey",), "imm": ("immdt.imm",), "cack": ("seth.cack_psn",),
    "offset": ("seth.sack_offset",), "map": ("seth.sack_bitmap",), "ooo": ("seth.ooo_count",),
    "probe": ("seth.probe_id", "peth.probe_id"), "ports": ("erth.port_status_mask",), "mpr": ("seth.mpr",),
    "rcvd": ("seth.rcvd_bytes",), "pen": ("seth.rcv_cwnd_pen",), "dqp": ("bth.dqp",), "pkey": ("bth.p_key",),
    "ext": ("seth.ext", "peth.ext"), "wait": ("neth.vendor_info",), "over": ("ev",), "id": ("bth.psn",),
    "ev": ("seth.entropy", "neth.entropy", "ev"),
    "ts": tuple(f"{h}.tx_timestamp" for h in ("tseth", "seth", "neth", "peth", "erth", "eeth")),
}
FLAGS = {"rtx": "bth.rtx", "ackreq": "bth.a", "se": "bth.se", "restore": "seth.restore_cwnd"}
CHOICES = {
    "mark": ("seth.m", {"none": 0, "skip_once": 1, "always_skip": 2, "undefined": 3}),
    "reason": ("neth.reason", {"trimmed": 1, "trimmed_lasthop": 2, "no_bitmap": 6, "no_pkt_buffer": 7, "no_resource": 10,
                               "psn_oor_window": 11, "unexp_event": 25, "rnr": 128}),
    "nak": ("aeth.syndrome", {"none": 0x1F, "invalid_request": 0x61, "remote_access": 0x62, "remote_op": 0x63}),
    "class": ("class", {"no_trim": 0, "data": 1, "retx": 2, "control": 5}),
    "trim": ("class", {"midpath": 3, "lasthop": 4}),
}
OPS = {"port_status": 0, "ev_probe": 1}
OTHERS = ("at", "trigger", "plane", "op")
SENDERS = {"<": "192.0.2.2", ">": "192.0.2.1"}
SWITCHES = {*FLAGS, "ce", "badcrc", "nots"}
SHOWN = ("frame.comment", "frame.interface_id", "ip.src", "ip.dsfield.ecn", "_ws.col.Info", "_ws.expert.message",
         "_ws.expert.severity", "mrc.icrc.status", "mrc.bth.ts", "mrc.reth.va", "mrc.seth.ack_psn_offset", "mrc.erth.op",
         "mrc.eeth.op", "mrc.trigger", "mrc.seth.map", "frame.number")
FIELDS = sorted({*SHOWN, *(f"mrc.{f}" for fields in NUMBERS.values() for f in fields),
                 *(f"mrc.{f}" for f in FLAGS.values()), *(f"mrc.{f}" for f, _ in CHOICES.values())})


def write(script_run, folder):
    """Captures of all scripts; one file with the sections of all of them, and how many there are."""
    subprocess.run([script_run, "-c", folder, SCRIPTS], check=True, capture_output=True)
    files = sorted(folder.glob("*/*.pcapng"))
    together = folder / "all.pcapng"
    together.write_bytes(b"".join(file.read_bytes() for file in files))
    return together, len(files)


def parse(comment):
    """"> WRITE ONLY psn 5 rtx" -> arrow, name of the opcode, word -> value (True: it is a switch)."""
    arrow, *rest = comment.split()
    kind = []
    while rest and rest[0].isupper():
        kind.append(rest.pop(0))
    words = {}
    while rest:
        word = rest.pop(0)
        words[word] = True if word in SWITCHES else rest.pop(0)
    return arrow, "_".join(kind), words


def first(row, *fields):
    """The value of the first of the fields that the packet has, or None."""
    return next((tshark.number(row[f"mrc.{f}"]) for f in fields if row[f"mrc.{f}"]), None)


def wanted_messages(kind, words):
    """Which warnings and errors, by how they begin, the words of a packet mean."""
    wanted = []
    if words.get("nak", "none") != "none":
        wanted.append("The message was refused")
    if words.get("mark") == "undefined":
        wanted.append("A path mark that is undefined")
    if "trim" in words:
        wanted += ["IPv4 total length exceeds packet length", "Bad length value"]
        # A switch that cuts a control packet: what is left of it cannot be read.
        wanted += [] if kind.startswith(("WRITE", "SEND")) else ["The packet ends inside its headers", "The ICRC is wrong"]
    elif "badcrc" in words:
        wanted.append("The ICRC is wrong")
    return sorted(wanted)


def came_messages(row):
    pairs = zip(row["_ws.expert.message"], row["_ws.expert.severity"], strict=True)
    return sorted({message for message, severity in pairs if int(severity) >= WARNING})


def reads(kind, word, row):
    """What tshark says of a word that takes more than a look at one field."""
    if word == "at":
        return first(row, "reth.va") - (0 if kind.startswith("SEND") else REGION)
    if word == "trigger":
        return (first(row, "seth.cack_psn") + first(row, "seth.ack_psn_offset")) % 2**24
    if word == "plane":
        return int(row["frame.interface_id"][0].removeprefix("plane"))
    return first(row, "erth.op", "eeth.op")


def word_differs(kind, word, value, row):
    if word in SWITCHES or word == "from":
        return False
    if word in CHOICES:
        field, names = CHOICES[word]
        return first(row, field) != names[value]
    if word in OTHERS:
        return reads(kind, word, row) != (OPS[value] if word == "op" else int(value, 0))
    return first(row, *NUMBERS[word]) != int(value, 0)


def packet_problems(row):
    arrow, kind, words = parse(row["frame.comment"][0])
    control_cut = "trim" in words and not kind.startswith(("WRITE", "SEND"))
    # Not in the bytes: the length of a packet that was cut, the time stamp of one without.
    gone = ({"len"} if "trim" in words else set()) | ({"ts"} if "nots" in words else set())
    checked = [] if control_cut else [(word, value) for word, value in words.items() if word not in gone]
    found = [f"{word} {value}" for word, value in checked if word_differs(kind, word, value, row)]
    found += [word for word, field in FLAGS.items() if not control_cut and bool(first(row, field)) != (word in words)]
    sender = "192.0.2.3" if words.get("from") == "attacker" else SENDERS[arrow]
    found += [] if row["ip.src"] == [sender] else [f"sender {row['ip.src']}"]
    found += [] if row["_ws.col.Info"][0].startswith(f"{kind} QP") else [f"opcode: {row['_ws.col.Info']}"]
    found += [] if (row["ip.dsfield.ecn"] == ["3"]) == ("ce" in words) else [f"ECN {row['ip.dsfield.ecn']}"]
    if "nots" in words and row["mrc.bth.ts"] != ["0"]:
        found.append(f"TSETH {row['mrc.bth.ts']}")
    icrc = first(row, "icrc.status")
    if icrc != ((1 if control_cut else None) if "trim" in words else 1 if "badcrc" in words else 0):
        found.append(f"ICRC {icrc}")
    messages, wanted = came_messages(row), wanted_messages(kind, words)
    if len(messages) != len(wanted) or not all(m.startswith(w) for m, w in zip(messages, wanted)):
        found.append(f"expert information {messages}, want {wanted}")
    return [f"{row['frame.comment'][0]}: {text}" for text in found]


def drawn_map(words):
    """The bitmap of a SACK as the dissector is to draw it: received, known from cack, missing."""
    cack, first_psn = int(words["cack"]), (int(words["cack"]) + int(words["offset"])) % 2**24
    marks = ""
    for bit in range(64):
        known = (cack - first_psn - bit) % 2**24 < 2**23
        marks += "#" if int(words["map"], 0) >> bit & 1 else "=" if known else "."
    return f"{first_psn} [{' '.join(marks[at:at + 8] for at in range(0, 64, 8))}]"


def map_problems(rows):
    found = []
    for row in rows:
        _, kind, words = parse(row["frame.comment"][0])
        if kind == "SACK" and "trim" not in words and row["mrc.seth.map"] != [drawn_map(words)]:
            found.append(f"{row['frame.comment'][0]}: drawn {row['mrc.seth.map']}, want {drawn_map(words)}")
    return found


LINKED_LEAST = 200


def link_problems(rows):
    """The peer of a script leaves the context ids of its SACKs 0, as who brings a NIC of his own may: hosts and PSN tell
    what is answered, in the packet before or in one of another script."""
    by_frame, found, linked = {row["frame.number"][0]: row for row in rows}, [], 0
    for row in rows:
        arrow, kind, words = parse(row["frame.comment"][0])
        if arrow == ">" or kind not in ("SACK", "NACK") or not row["mrc.trigger"]:
            continue
        linked += 1
        other, _, sent = parse(by_frame[row["mrc.trigger"][0]]["frame.comment"][0])
        if other != ">" or sent["psn"] != words.get("trigger", words.get("psn")):
            found.append(f"{row['frame.comment'][0]}: answers {sent}")
    return found + ([] if linked >= LINKED_LEAST else [f"{linked} SACKs and NACKs of peers name what they answer"])


def problems(script_run, folder):
    together, files = write(script_run, folder)
    scripts = len(list(SCRIPTS.glob("*/*.mrc")))
    found = [] if files == scripts else [f"{files} captures of {scripts} scripts"]
    rows = tshark.read(together, FIELDS)
    found += [f"{len(rows)} packets, want {PACKETS_LEAST} at least"] if len(rows) < PACKETS_LEAST else []
    for row in rows:
        found += packet_problems(row)
    return (found + map_problems(rows) + link_problems(rows))[:20]
