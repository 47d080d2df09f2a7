-- SPDX-License-Identifier: BSD-2-Clause
--
-- mrc.lua: a Wireshark dissector for MRC 1.0 and for softmrc's extension (docs/protocol.md).
--
--   tshark -X lua_script:mrc.lua -r capture.pcapng        or copy it to Wireshark's plugin folder
--
-- It registers on UDP port 4791 and the ports of softmrc's process slots behind it. A packet whose first
-- byte is no opcode of MRC goes to the dissector that the port had before, RoCEv2's on 4791.
-- Field names are those of the tables in docs/protocol.md: mrc.seth.cack_psn and so on.

local mrc = Proto("mrc", "Multipath Reliable Connection")

-- ---- opcodes ----

-- Bytes of the headers behind the BTH, without TSETH.
local DATA, DATA_WORD = 20, 24
local ICRC_BYTES, BTH_BYTES = 4, 12

-- name, kind of header, bytes of it, what the 4 bytes behind the RETH are
local OPCODES = {
	[0xC6] = { "WRITE_FIRST", "data", DATA },
	[0xC7] = { "WRITE_MIDDLE", "data", DATA },
	[0xC8] = { "WRITE_LAST", "data", DATA },
	[0xC9] = { "WRITE_LAST_IMM", "data", DATA_WORD, "imm" },
	[0xCA] = { "WRITE_ONLY", "data", DATA },
	[0xCB] = { "WRITE_ONLY_IMM", "data", DATA_WORD, "imm" },
	[0xD1] = { "ACK", "aeth", 4 },
	[0xD8] = { "EP_REQUEST", "erth", 16 },
	[0xD9] = { "EP_RESPONSE", "eeth", 36 },
	[0xDC] = { "SACK", "seth", 36 },
	[0xDD] = { "NACK", "neth", 20 },
	[0xDE] = { "PROBE", "peth", 16 },
	[0xE0] = { "SEND_FIRST", "data", DATA },
	[0xE1] = { "SEND_MIDDLE", "data", DATA },
	[0xE2] = { "SEND_LAST", "data", DATA },
	[0xE3] = { "SEND_LAST_IMM", "data", DATA_WORD, "imm" },
	[0xE4] = { "SEND_ONLY", "data", DATA },
	[0xE5] = { "SEND_ONLY_IMM", "data", DATA_WORD, "imm" },
	[0xEC] = { "READ_REQUEST", "data", DATA_WORD, "read_length" },
	[0xED] = { "READ_RESPONSE_FIRST", "data", DATA },
	[0xEE] = { "READ_RESPONSE_MIDDLE", "data", DATA },
	[0xEF] = { "READ_RESPONSE_LAST", "data", DATA },
	[0xF0] = { "READ_RESPONSE_ONLY", "data", DATA },
	[0xF1] = { "RESPONSE_ACK", "aeth", 4 },
	[0xF2] = { "ATOMIC_RESPONSE", "data", DATA },
	[0xF3] = { "COMPARE_SWAP", "data", DATA },
	[0xF4] = { "FETCH_ADD", "data", DATA },
	[0xF5] = { "ATOMIC_WRITE", "data", DATA },
	[0xF6] = { "SEND_LAST_INV", "data", DATA_WORD, "inv_rkey" },
	[0xF7] = { "SEND_ONLY_INV", "data", DATA_WORD, "inv_rkey" },
	[0xFC] = { "RESPONSE_SACK", "seth", 36 },
	[0xFD] = { "RESPONSE_NACK", "neth", 20 },
	[0xFE] = { "RESPONSE_PROBE", "peth", 16 },
}
local IS_RESPONSE_DATA = { [0xED] = true, [0xEE] = true, [0xEF] = true, [0xF0] = true, [0xF2] = true }

local opcode_names = {}
for opcode, row in pairs(OPCODES) do
	opcode_names[opcode] = row[1]
end

local SYNDROMES = {
	[0x1F] = "ACK",
	[0x61] = "NAK, Invalid Request",
	[0x62] = "NAK, Remote Access Error",
	[0x63] = "NAK, Remote Operational Error",
}
local REASONS = {
	[0x01] = "TRIMMED",
	[0x02] = "TRIMMED_LASTHOP",
	[0x06] = "NO_BITMAP",
	[0x07] = "NO_PKT_BUFFER",
	[0x0A] = "NO_RESOURCE",
	[0x0B] = "PSN_OOR_WINDOW",
	[0x19] = "UNEXP_EVENT",
	[0x80] = "RNR (extension)",
}
local MARKS = { [0] = "none", [1] = "SKIP_ONCE", [2] = "ALWAYS_SKIP" }
local OPS = { [0] = "PORT_STATUS", [1] = "EV_PROBE" }
local ICRC_STATES = { [0] = "good", [1] = "bad", [2] = "not checked" }
local CLASSES = { [0] = "no-trim", "trimmable", "trimmable-retx", "trimmed", "trimmed-lasthop", "control" }
local NO_CLASS = 6
CLASSES[NO_CLASS] = "none of MRC"
local NO_TRIM, TRIMMED, LASTHOP, CONTROL = 0, 3, 4, 5
-- InfiniBand's 5-bit code of a time to wait, in units of 10 us.
local RNR_TIMES = {
	[0] = 65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
	2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
}

-- ---- fields ----

local f = {}
local all_fields = {}

local function field(name, make, ...)
	f[name] = make("mrc." .. name, ...)
	all_fields[#all_fields + 1] = f[name]
end

local u8, u16, u24 = ProtoField.uint8, ProtoField.uint16, ProtoField.uint24
local u32, u64 = ProtoField.uint32, ProtoField.uint64

-- A flag or a part of a number: shown as its bits.
local function bits(name, make, label, mask, names)
	field(name, make, label, base.DEC, names, mask)
end
local function flag(name, width, label, mask)
	field(name, ProtoField.bool, label, width, nil, mask)
end

field("bth.opcode", u8, "Opcode", base.HEX, opcode_names)
flag("bth.se", 8, "Solicited event", 0x80)
flag("bth.m", 8, "Migration state", 0x40)
bits("bth.pad", u8, "Pad count", 0x30)
bits("bth.tver", u8, "Transport version", 0x0F)
field("bth.p_key", u16, "P_Key", base.HEX)
field("bth.var_res", u8, "Variant reserved", base.HEX)
field("bth.dqp", u24, "Destination QPN", base.HEX)
flag("bth.a", 8, "AckReq", 0x80)
flag("bth.r", 8, "Reserved", 0x40)
flag("bth.rtx", 8, "Retransmission", 0x20)
flag("bth.ts", 8, "TSETH follows", 0x10)
field("bth.inv_res", u8, "Invariant reserved", base.HEX, nil, 0x0F)
field("bth.psn", u24, "PSN", base.DEC)

field("meth.rqmsn", u16, "RQMSN", base.DEC)
field("meth.msn", u16, "MSN", base.DEC)

for _, header in ipairs({ "tseth", "peth", "erth" }) do
	field(header .. ".tx_timestamp", u16, "Time stamp (128 ns)", base.DEC)
	flag(header .. ".tsr", 16, "Other resolution", 0x8000)
	bits(header .. ".ftype", u16, "Frame type", 0x000F, { [1] = "time stamp" })
end

field("reth.va", u64, "Virtual address or offset", base.HEX)
field("reth.rkey", u32, "R_Key", base.HEX)
field("reth.dmalen", u32, "Message length (bytes)", base.DEC)
field("immdt.imm", u32, "Immediate data", base.HEX)
field("immdt.inv_rkey", u32, "R_Key to invalidate", base.HEX)
field("immdt.read_length", u32, "Bytes to read", base.DEC)
field("atomic.operand", u64, "Swap, add or data", base.HEX)
field("atomic.compare", u64, "Compare", base.HEX)

field("aeth.syndrome", u8, "Syndrome", base.HEX, SYNDROMES)
field("aeth.msn", u24, "MSN", base.DEC)

for _, header in ipairs({ "seth", "neth", "peth", "erth", "eeth" }) do
	bits(header .. ".type", u16, "Type", 0xF000)
	bits(header .. ".nh", u16, "Next header", 0x0F80)
end

bits("seth.m", u16, "Path mark", 0x0060, MARKS)
flag("seth.pr", 16, "Answers a probe", 0x0002)
field("seth.ack_psn_offset", ProtoField.int16, "Trigger's PSN less cack_psn", base.DEC)
field("seth.probe_id", u16, "Probe id", base.DEC)
field("seth.entropy", u32, "EV of the trigger", base.HEX)
field("seth.spdcid", u16, "Source context id", base.HEX)
field("seth.dpdcid", u16, "Destination context id", base.HEX)
field("seth.ext", u8, "Agreement (extension)", base.HEX)
field("seth.cack_psn", u24, "cack_psn", base.DEC)
bits("seth.cc_type", u8, "CC type", 0xF0)
bits("seth.cc_fl", u8, "CC flags", 0x0F)
field("seth.mpr", u8, "MPR (128 PSNs)", base.DEC)
field("seth.sack_offset", ProtoField.int16, "PSN of bit 0 less cack_psn", base.DEC)
field("seth.sack_bitmap", u64, "SACK bitmap", base.HEX)
field("seth.map", ProtoField.string, "Received from PSN")
field("seth.missing", ProtoField.string, "Missing below the newest PSN of the map")
field("seth.tx_timestamp", u16, "Time stamp, reflected", base.DEC)
bits("seth.ooo_count", u16, "Packets above cack_psn", 0x7FFF)
flag("seth.restore_cwnd", 8, "Restore the window", 0x80)
bits("seth.rcv_cwnd_pen", u8, "Window penalty", 0x7F)
field("seth.rcvd_bytes", u24, "New bytes received (256)", base.DEC)

field("neth.reason", u8, "Reason", base.HEX, REASONS)
field("neth.vendor_info", u8, "Vendor info", base.HEX)
field("neth.gap_ns", u32, "Gap between packets (ns)", base.DEC)
field("neth.rnr_us", u32, "Time to wait (us)", base.DEC)
field("neth.entropy", u32, "EV of the packet", base.HEX)
field("neth.spdcid", u16, "Source context id", base.HEX)
field("neth.dpdcid", u16, "Destination context id", base.HEX)
field("neth.nack_psn", u24, "PSN", base.DEC)
bits("neth.cc_type", u8, "CC type", 0xF0)
bits("neth.cc_fl", u8, "CC flags", 0x0F)
field("neth.tx_timestamp", u16, "Time stamp, reflected", base.DEC)

field("peth.vendor_info", u8, "Vendor info", base.HEX)
field("peth.probe_id", u16, "Probe id", base.DEC)
field("peth.ext", u8, "Agreement (extension)", base.HEX)
field("peth.spdcid", u16, "Source context id", base.HEX)
field("peth.dpdcid", u16, "Destination context id", base.HEX)

bits("erth.op", u16, "Operation", 0x0003, OPS)
field("erth.vendor_info", u8, "Vendor info", base.HEX)
field("erth.port_status_mask", u32, "Ports that can be reached", base.HEX)

bits("eeth.op", u16, "Operation", 0x000C, OPS)
bits("eeth.op_high", u16, "Operation, where other readers put it", 0x0030, OPS)
field("eeth.tx_timestamp", u16, "Time stamp, reflected", base.DEC)

field("payload", ProtoField.bytes, "Payload")
field("payload_length", u32, "Payload length", base.DEC)
field("cut", ProtoField.bytes, "Part of a header, the rest was trimmed")
field("icrc", u32, "ICRC", base.HEX)
field("icrc.status", u8, "ICRC status", base.DEC, ICRC_STATES)
field("class", u8, "Traffic class", base.DEC, CLASSES)

field("ev", u32, "EV", base.HEX)
field("ev.uplink", u32, "Uplink of the T0", base.DEC, nil, 0x000000FF)
field("ev.t1_uplink", u32, "Uplink of the T1", base.DEC, nil, 0x0000FF00)
field("ev.plane", u32, "Plane", base.DEC, nil, 0x000F0000)
field("ev.free", u32, "Free", base.HEX, nil, 0xFFF00000)
field("srv6.block", u32, "uSID block", base.HEX)
field("srv6.usid", u16, "uSID", base.HEX)
field("srv6.segment_usid", u16, "uSID", base.HEX)

field("retransmission_of", ProtoField.framenum, "Retransmission of", base.NONE, frametype.RETRANS_PREV)
field("trigger", ProtoField.framenum, "Caused by", base.NONE, frametype.REQUEST)
field("response_to", ProtoField.framenum, "Answers", base.NONE, frametype.REQUEST)
field("answer", ProtoField.framenum, "Answered in", base.NONE, frametype.RESPONSE)
field("response_time", ProtoField.relative_time, "Response time")

mrc.fields = all_fields

-- ---- expert information ----

local x = {}
local all_experts = {}

local function violation(name, text, group, severity)
	x[name] = ProtoExpert.new("mrc.expert." .. name, text, group, severity)
	all_experts[#all_experts + 1] = x[name]
end

local MALFORMED, PROTOCOL, SEQUENCE = expert.group.MALFORMED, expert.group.PROTOCOL, expert.group.SEQUENCE
local ERROR, WARN = expert.severity.ERROR, expert.severity.WARN
local NOTE, CHAT = expert.severity.NOTE, expert.severity.CHAT
violation("short", "The packet ends inside its headers", MALFORMED, ERROR)
violation("tver", "The transport version is not 0", MALFORMED, ERROR)
violation("pad", "The pad is longer than what follows the headers", MALFORMED, ERROR)
violation("length", "A control packet has bytes behind its headers", MALFORMED, ERROR)
violation("type", "Type and next header are not 0", MALFORMED, ERROR)
violation("ftype", "The frame type is not 1, time stamp", MALFORMED, ERROR)
violation("icrc", "The ICRC is wrong", expert.group.CHECKSUM, ERROR)
violation("class", "The DSCP is not one of the packet's class", PROTOCOL, WARN)
violation("reserved", "Reserved bits are set", PROTOCOL, NOTE)
violation("syndrome", "The syndrome is none that MRC sends", PROTOCOL, WARN)
violation("reason", "The reason is none of MRC 1.0", PROTOCOL, NOTE)
violation("cc_type", "The CC type is not that of this header", PROTOCOL, WARN)
violation("cack", "The PSN of the BTH is not cack_psn", PROTOCOL, WARN)
violation("nack_psn", "The PSN of the BTH is not nack_psn", PROTOCOL, WARN)
violation("mark", "A path mark that is undefined", PROTOCOL, WARN)
violation("endpoint_qp", "An endpoint packet goes to QP 2", PROTOCOL, WARN)
violation("op", "The operation is undefined", PROTOCOL, WARN)
violation("op_high", "The operation is in bits 5:4, where some readers have it", PROTOCOL, NOTE)
violation("retransmission", "Retransmission", SEQUENCE, NOTE)
violation("rtx", "The PSN was sent before, and rtx is not set", SEQUENCE, NOTE)
violation("nacked", "The receiver lacks the packet", SEQUENCE, NOTE)
violation("nak", "The message was refused: the QP ends", SEQUENCE, WARN)
violation("trimmed", "A switch trimmed the packet", SEQUENCE, CHAT)
violation("marked", "A switch marked the packet: congestion experienced", SEQUENCE, CHAT)
mrc.experts = all_experts

-- ---- preferences ----

local SLOTS = 1024
mrc.prefs.port = Pref.uint("First UDP port", 4791, "UDP port of the first process; 1023 follow for others")
mrc.prefs.dscp = Pref.string("DSCP map", "0,4,8,12,16,46",
	"Numbers of no trim, trimmable, trimmable retransmission, trimmed, trimmed at the last hop, control")
local EV_FORMATS = {
	{ 1, "STEV where there is a flow label or a tunnel", 0 },
	{ 2, "UDP source port", 1 },
	{ 3, "STEV", 2 },
}
mrc.prefs.ev_format = Pref.enum("EV format", 0, "Where the EV is in the headers", EV_FORMATS, false)
mrc.prefs.usid_block = Pref.string("uSID block", "fcbbbb0",
	"First hexadecimal digits of addresses that are lists of uSIDs")
mrc.prefs.icrc = Pref.bool("Check the ICRC", true, "Off: faster with large captures")

local class_of_dscp = {}

-- Six numbers, 0 to 63; anything else leaves the map as it was.
local function read_dscp_map(text)
	local map, class = {}, 0
	for number in text:gmatch("[^,]+") do
		local dscp = tonumber(number)
		if not dscp or dscp < 0 or dscp > 63 or dscp ~= math.floor(dscp) then return end
		if map[dscp] == nil then map[dscp] = class end
		class = class + 1
	end
	if class == 6 then class_of_dscp = map end
end
read_dscp_map(mrc.prefs.dscp)

-- ---- what lies around the packet ----

local get_ip, get_ipv6 = Field.new("ip"), Field.new("ipv6")
local get_flow = Field.new("ipv6.flow")
local get_segment, get_segments_left = Field.new("ipv6.routing.srh.addr"), Field.new("ipv6.routing.segleft")
local get_interface = Field.new("frame.interface_id")

-- The outermost and the innermost IP header: their bytes, version, and whether there are two.
local function carrier()
	local four, six = { get_ip() }, { get_ipv6() }
	if #six > 0 then
		return { version = 6, outer = six[1].range, inner = six[#six].range, tunnel = #six > 1 }
	end
	if #four > 0 then
		return { version = 4, outer = four[1].range, inner = four[#four].range, tunnel = false }
	end
	return nil
end

-- SRv6 without an inner header: the list of uSIDs is where the GID of the receiver was.
local function goes_to_usids(c)
	local block = mrc.prefs.usid_block:lower()
	return c ~= nil and c.version == 6 and not c.tunnel and block ~= "" and
		c.outer(24, 16):bytes():tohex(true):sub(1, #block) == block
end

local function traffic_class(c)
	if c.version == 6 then return c.outer(0, 2):bitfield(4, 8) end
	return c.outer(1, 1):uint()
end

local function ev_of(c, sport)
	local flow = 0
	if not c then return sport end
	if c.version == 6 then
		local labels = { get_flow() }
		flow = labels[#labels].value
	end
	-- A packet in a tunnel of SRv6 has an EV of 32 bits, whose low half may be 0.
	if mrc.prefs.ev_format == 2 or (mrc.prefs.ev_format == 0 and (flow ~= 0 or c.tunnel or goes_to_usids(c))) then
		return bit.bor(bit.lshift(sport, 16), bit.band(flow, 0xFFFF)) % 0x100000000
	end
	return sport
end

-- ---- ICRC ----

local crc_table = {}
for i = 0, 255 do
	local c = i
	for _ = 1, 8 do
		c = bit.bxor(bit.rshift(c, 1), bit.band(c, 1) == 1 and 0xEDB88320 or 0)
	end
	crc_table[i] = c
end

local function crc32(crc, bytes)
	for i = 1, #bytes do
		crc = bit.bxor(bit.rshift(crc, 8), crc_table[bit.band(bit.bxor(crc, bytes:byte(i)), 0xFF)])
	end
	return crc
end

local ONES = string.char(0xFF)

-- The CRC begins with the eight bytes of ones in the place of an LRH.
local AFTER_LRH = crc32(0xFFFFFFFF, ONES:rep(8))

-- `to`: the destination's GID, where the packet has it not.
-- IPv4 without type of service, time to live and checksum; IPv6 without class, flow label and hop limit.
local function invariant_ip(c, to)
	local ip = c.inner:raw()
	if c.version == 4 then
		return ip:sub(1, 1) .. ONES .. ip:sub(3, 8) .. ONES .. ip:sub(10, 10) .. ONES:rep(2) .. ip:sub(13, 20)
	end
	return "\x6F" .. ONES:rep(3) .. ip:sub(5, 7) .. ONES .. ip:sub(9, 24) .. (to or ip:sub(25, 40))
end

local function udp_header(pinfo, length)
	local function two(v) return string.char(math.floor(v / 256), v % 256) end
	return two(pinfo.src_port) .. two(pinfo.dst_port) .. two(length + 8) .. ONES:rep(2)
end

-- GIDs that sent to uSIDs, and which of them a QP number has been found to be.
local GIDS_MAX = 32
local gids, gid_of_qp

local function note_gid(c)
	local gid = c.outer(8, 16):raw()
	for _, known in ipairs(gids) do
		if known == gid then return end
	end
	if #gids < GIDS_MAX then gids[#gids + 1] = gid end
end

-- 0: good, 1: bad, 2: cannot be told.
local function icrc_state(tvb, pinfo, c)
	local length = tvb:len()
	if not mrc.prefs.icrc or not c or tvb:reported_len() ~= length then return 2 end
	local raw = tvb:raw(0, length - ICRC_BYTES)
	local expected = tvb(length - ICRC_BYTES, ICRC_BYTES):le_uint()
	local function fits(to)
		local crc = crc32(AFTER_LRH, invariant_ip(c, to) .. udp_header(pinfo, length) ..
			raw:sub(1, 4) .. ONES .. raw:sub(6))
		return bit.bnot(crc) % 0x100000000 == expected
	end
	if not goes_to_usids(c) then return fits() and 0 or 1 end
	note_gid(c)
	local key = c.outer(8, 16):raw() .. tvb(5, 3):raw()
	if gid_of_qp[key] then return fits(gid_of_qp[key]) and 0 or 1 end
	for _, gid in ipairs(gids) do
		if fits(gid) then
			gid_of_qp[key] = gid
			return 0
		end
	end
	return 2
end

-- ---- conversations: packets by the low 16 bits of the receiving QPN, and the PSN ----

local sent, sent_between, probes, requests, links

-- links[frame]: what the first pass found out about a frame, so that a later pass shows the same.
local function link(number)
	links[number] = links[number] or {}
	return links[number]
end

function mrc.init()
	sent, sent_between, probes, requests, links = {}, {}, {}, {}, {}
	gids, gid_of_qp = {}, {}
end

local function answer(to, number, time)
	local from, back = link(to.number), link(number)
	from.answer = from.answer or number
	back.response_time = time - to.time
end

-- Requests and their responses have PSNs of their own.
local function data_key(opcode, qpn, psn)
	return string.format("%s%x.%x", IS_RESPONSE_DATA[opcode] and "r" or "q", qpn % 0x10000, psn)
end

-- The same for receivers that do not fill in the context ids of their SACKs: by hosts and PSN, as long as one QP
-- between the two has it.
local function hosts_key(opcode, to, from, psn)
	return string.format("%s%s %s.%x", (IS_RESPONSE_DATA[opcode] or opcode >= 0xFC) and "r" or "q", to, from, psn)
end

local function note_between(p, packet)
	local key = hosts_key(p.opcode, p.dst, p.src, p.psn)
	local before = sent_between[key]
	local same = before == nil or (before and before.dqp == p.dqp)
	sent_between[key] = same and { dqp = p.dqp, packet = packet }
end

-- A capture may show one packet on several interfaces: only on the same one is it another.
local function note_data(p)
	local key = data_key(p.opcode, p.dqp, p.psn)
	local interface = get_interface()
	local before = sent[key] or { on = {} }
	local i = interface and interface.value or 0
	if before.on[i] then link(p.number).retransmission_of = before.on[i] end
	before.on[i] = p.number
	before.number, before.time = p.number, p.time
	sent[key] = before
	note_between(p, before)
end

local function note_answer(p, kind, spdcid, psn)
	local to = sent[string.format("%s%x.%x", p.opcode >= 0xF0 and "r" or "q", spdcid, psn)]
	if spdcid == 0 then
		local between = sent_between[hosts_key(p.opcode, p.src, p.dst, psn)]
		to = between and between.packet
	end
	if not to then return end
	link(p.number)[kind] = to.number
	answer(to, p.number, p.time)
end

local function note_probe(p, id)
	probes[string.format("%x.%x", p.dqp % 0x10000, id)] = { number = p.number, time = p.time }
end

local function note_probe_answer(p, spdcid, id)
	local to = probes[string.format("%x.%x", spdcid, id)]
	if not to then return end
	link(p.number).response_to = to.number
	answer(to, p.number, p.time)
end

local function note_request(p)
	requests[p.src .. " " .. p.psn] = { number = p.number, time = p.time }
end

local function note_response(p)
	local to = requests[p.dst .. " " .. p.psn]
	if not to then return end
	link(p.number).response_to = to.number
	answer(to, p.number, p.time)
end

-- ---- headers ----

local function add(tree, name, range)
	return tree:add(f[name], range)
end

local function reserved(tree, ...)
	for _, value in ipairs({ ... }) do
		if value ~= 0 then
			tree:add_proto_expert_info(x.reserved)
			return
		end
	end
end

local function dissect_bth(tvb, tree, p)
	local bth = tree:add(tvb(0, BTH_BYTES), "Base Transport Header")
	add(bth, "bth.opcode", tvb(0, 1))
	for _, name in ipairs({ "se", "m", "pad", "tver" }) do add(bth, "bth." .. name, tvb(1, 1)) end
	add(bth, "bth.p_key", tvb(2, 2))
	add(bth, "bth.var_res", tvb(4, 1))
	add(bth, "bth.dqp", tvb(5, 3))
	for _, name in ipairs({ "a", "r", "rtx", "ts", "inv_res" }) do add(bth, "bth." .. name, tvb(8, 1)) end
	add(bth, "bth.psn", tvb(9, 3))
	reserved(bth, tvb(4, 1):uint(), tvb(8, 1):bitfield(1, 1), tvb(8, 1):bitfield(4, 4))
	p.pad, p.dqp, p.psn = tvb(1, 1):bitfield(2, 2), tvb(5, 3):uint(), tvb(9, 3):uint()
	p.a, p.rtx, p.ts = tvb(8, 1):bitfield(0, 1) == 1, tvb(8, 1):bitfield(2, 1) == 1, tvb(8, 1):bitfield(3, 1) == 1
	if tvb(1, 1):bitfield(4, 4) ~= 0 then bth:add_proto_expert_info(x.tver) end
end

-- The time stamp header: on its own, and as the end of PETH and ERTH.
local function dissect_time_stamp(tvb, tree, prefix)
	add(tree, prefix .. ".tx_timestamp", tvb(0, 2))
	add(tree, prefix .. ".tsr", tvb(2, 2))
	add(tree, prefix .. ".ftype", tvb(2, 2))
	if tvb(2, 2):bitfield(12, 4) ~= 1 then tree:add_proto_expert_info(x.ftype) end
	reserved(tree, tvb(2, 2):bitfield(1, 11))
end

local function dissect_type(tvb, tree, prefix)
	add(tree, prefix .. ".type", tvb(0, 2))
	add(tree, prefix .. ".nh", tvb(0, 2))
	if tvb(0, 2):bitfield(0, 9) ~= 0 then tree:add_proto_expert_info(x.type) end
end

-- The headers of a data packet, those that are whole; returns where they end and what was cut.
local function dissect_data(tvb, tree, p, last)
	local at = BTH_BYTES
	local function part(bytes, label)
		if last - at < bytes then return nil end
		local range = tvb(at, bytes)
		at = at + bytes
		return range, tree:add(range, label)
	end

	local meth, meth_tree = part(4, "MRC Extended Transport Header")
	if not meth then return nil end
	add(meth_tree, "meth.rqmsn", meth(0, 2))
	add(meth_tree, "meth.msn", meth(2, 2))
	p.msn = meth(2, 2):uint()
	if p.ts then
		local ts, ts_tree = part(4, "Time Stamp Header")
		if not ts then return at end
		dissect_time_stamp(ts, ts_tree, "tseth")
	end
	local reth, reth_tree = part(16, "RDMA Extended Transport Header")
	if not reth then return at end
	add(reth_tree, "reth.va", reth(0, 8))
	add(reth_tree, "reth.rkey", reth(8, 4))
	add(reth_tree, "reth.dmalen", reth(12, 4))
	local word = p.row[4]
	if word then
		local range = part(4, "Immediate Data")
		if not range then return at end
		add(tree, "immdt." .. word, range)
	end
	p.whole = true
	return at
end

local function dissect_payload(tvb, tree, p, at, last)
	local pad = p.cut and 0 or p.pad
	local length = last - at - pad
	if not p.whole then
		if last > at then add(tree, "cut", tvb(at, last - at)) end
		return
	end
	if length < 0 then
		tree:add_proto_expert_info(x.pad)
		return
	end
	p.payload = length
	tree:add(f.payload_length, length):set_generated()
	if (p.opcode == 0xF3 or p.opcode == 0xF4) and length == 16 then
		add(tree, "atomic.operand", tvb(at, 8))
		add(tree, "atomic.compare", tvb(at + 8, 8))
	elseif p.opcode == 0xF5 and length == 8 then
		add(tree, "atomic.operand", tvb(at, 8))
	elseif length > 0 then
		add(tree, "payload", tvb(at, length))
	end
end

local control = {}

function control.aeth(tvb, tree, p)
	add(tree, "aeth.syndrome", tvb(0, 1))
	add(tree, "aeth.msn", tvb(1, 3))
	local syndrome = tvb(0, 1):uint()
	if bit.rshift(syndrome, 5) == 3 then
		tree:add_proto_expert_info(x.nak)
	elseif bit.rshift(syndrome, 5) ~= 0 then
		tree:add_proto_expert_info(x.syndrome)
	end
	return string.format("%s, MSN %d", SYNDROMES[syndrome] or string.format("syndrome 0x%02x", syndrome), tvb(1, 3):uint())
end

-- The bitmap as it lies in PSN space, and the PSNs below its newest that are missing.
local function draw_map(seth, tree)
	local first = (seth(13, 3):uint() + seth(18, 2):int()) % 0x1000000
	local cack = seth(13, 3):uint()
	local got, newest = {}, -1
	for i = 0, 63 do
		got[i] = seth(20, 8):bitfield(63 - i, 1) == 1
		if got[i] then newest = i end
	end
	local drawn, missing, from = {}, {}, nil
	for i = 0, 63 do
		local below = (cack - first - i) % 0x1000000 < 0x800000
		drawn[#drawn + 1] = got[i] and "#" or below and "=" or "."
		if i % 8 == 7 and i < 63 then drawn[#drawn + 1] = " " end
		local lacks = i < newest and not got[i] and not below
		if lacks and not from then from = i end
		if from and not lacks then
			local a, b = (first + from) % 0x1000000, (first + i - 1) % 0x1000000
			missing[#missing + 1] = a == b and tostring(a) or a .. "-" .. b
			from = nil
		end
	end
	tree:add(f["seth.map"], seth(20, 8), string.format("%d [%s]", first, table.concat(drawn))):set_generated()
	if #missing > 0 then
		tree:add(f["seth.missing"], seth(20, 8), table.concat(missing, ", ")):set_generated()
	end
	return #missing > 0 and ", missing " .. table.concat(missing, ", ") or ""
end

function control.seth(tvb, tree, p)
	dissect_type(tvb, tree, "seth")
	add(tree, "seth.m", tvb(0, 2))
	add(tree, "seth.pr", tvb(0, 2))
	local pr, cack, spdcid = tvb(0, 2):bitfield(14, 1) == 1, tvb(13, 3):uint(), tvb(8, 2):uint()
	add(tree, pr and "seth.probe_id" or "seth.ack_psn_offset", tvb(2, 2))
	add(tree, "seth.entropy", tvb(4, 4))
	add(tree, "seth.spdcid", tvb(8, 2))
	add(tree, "seth.dpdcid", tvb(10, 2))
	add(tree, "seth.ext", tvb(12, 1))
	add(tree, "seth.cack_psn", tvb(13, 3))
	add(tree, "seth.cc_type", tvb(16, 1))
	add(tree, "seth.cc_fl", tvb(16, 1))
	add(tree, "seth.mpr", tvb(17, 1)):append_text(string.format(", %d PSNs", tvb(17, 1):uint() * 128))
	add(tree, "seth.sack_offset", tvb(18, 2))
	add(tree, "seth.sack_bitmap", tvb(20, 8))
	local missing = draw_map(tvb, tree)
	add(tree, "seth.tx_timestamp", tvb(28, 2))
	add(tree, "seth.ooo_count", tvb(30, 2))
	add(tree, "seth.restore_cwnd", tvb(32, 1))
	add(tree, "seth.rcv_cwnd_pen", tvb(32, 1))
	add(tree, "seth.rcvd_bytes", tvb(33, 3)):append_text(string.format(", %d bytes", tvb(33, 3):uint() * 256))
	reserved(tree, tvb(0, 2):bitfield(11, 3), tvb(0, 2):bitfield(15, 1), tvb(30, 2):bitfield(0, 1))
	if tvb(0, 2):bitfield(9, 2) == 3 then tree:add_proto_expert_info(x.mark) end
	if tvb(16, 1):bitfield(0, 4) ~= 0 then tree:add_proto_expert_info(x.cc_type) end
	if p.psn ~= cack then tree:add_proto_expert_info(x.cack) end
	if not p.visited then
		if pr then
			note_probe_answer(p, spdcid, tvb(2, 2):uint())
		else
			note_answer(p, "trigger", spdcid, (cack + tvb(2, 2):int()) % 0x1000000)
		end
	end
	return string.format("cack %d%s%s", cack, pr and ", answers a probe" or "", missing)
end

function control.neth(tvb, tree, p)
	dissect_type(tvb, tree, "neth")
	local reason, info, psn = tvb(2, 1):uint(), tvb(3, 1):uint(), tvb(13, 3):uint()
	add(tree, "neth.reason", tvb(2, 1))
	add(tree, "neth.vendor_info", tvb(3, 1))
	if reason == 0x02 and info ~= 0 then
		local gap = bit.lshift(16 + info % 16, math.floor(info / 16)) * 2
		tree:add(f["neth.gap_ns"], tvb(3, 1), gap):set_generated()
	elseif reason == 0x80 then
		tree:add(f["neth.rnr_us"], tvb(3, 1), RNR_TIMES[info % 32] * 10):set_generated()
	end
	add(tree, "neth.entropy", tvb(4, 4))
	add(tree, "neth.spdcid", tvb(8, 2))
	add(tree, "neth.dpdcid", tvb(10, 2))
	add(tree, "neth.nack_psn", tvb(13, 3))
	add(tree, "neth.cc_type", tvb(16, 1))
	add(tree, "neth.cc_fl", tvb(16, 1))
	add(tree, "neth.tx_timestamp", tvb(18, 2))
	reserved(tree, tvb(0, 2):bitfield(9, 7), tvb(12, 1):uint(), tvb(17, 1):uint())
	tree:add_proto_expert_info(x.nacked)
	if not REASONS[reason] then tree:add_proto_expert_info(x.reason) end
	if tvb(16, 1):bitfield(0, 4) ~= 2 then tree:add_proto_expert_info(x.cc_type) end
	if p.psn ~= psn then tree:add_proto_expert_info(x.nack_psn) end
	if not p.visited then note_answer(p, "trigger", tvb(8, 2):uint(), psn) end
	return string.format("%s, PSN %d", REASONS[reason] or string.format("reason 0x%02x", reason), psn)
end

function control.peth(tvb, tree, p)
	dissect_type(tvb, tree, "peth")
	add(tree, "peth.vendor_info", tvb(3, 1))
	add(tree, "peth.probe_id", tvb(4, 2))
	add(tree, "peth.ext", tvb(7, 1))
	add(tree, "peth.spdcid", tvb(8, 2))
	add(tree, "peth.dpdcid", tvb(10, 2))
	dissect_time_stamp(tvb(12, 4), tree, "peth")
	reserved(tree, tvb(0, 2):bitfield(9, 7), tvb(2, 1):uint(), tvb(6, 1):uint())
	if not p.visited then note_probe(p, tvb(4, 2):uint()) end
	return string.format("probe %d", tvb(4, 2):uint())
end

function control.erth(tvb, tree, p)
	dissect_type(tvb, tree, "erth")
	local op = tvb(0, 2):bitfield(14, 2)
	add(tree, "erth.op", tvb(0, 2))
	add(tree, "erth.vendor_info", tvb(3, 1))
	add(tree, "erth.port_status_mask", tvb(4, 4))
	dissect_time_stamp(tvb(12, 4), tree, "erth")
	reserved(tree, tvb(0, 2):bitfield(9, 5), tvb(2, 1):uint(), tvb(8, 4):uint())
	if not OPS[op] then tree:add_proto_expert_info(x.op) end
	if p.dqp ~= 2 then tree:add_proto_expert_info(x.endpoint_qp) end
	if not p.visited then note_request(p) end
	return OPS[op] == "PORT_STATUS" and string.format("PORT_STATUS 0x%08x", tvb(4, 4):uint()) or OPS[op] or "op " .. op
end

function control.eeth(tvb, tree, p)
	dissect_type(tvb, tree, "eeth")
	local op = tvb(0, 2):bitfield(12, 2)
	add(tree, "eeth.op", tvb(0, 2))
	add(tree, "eeth.op_high", tvb(0, 2))
	add(tree, "eeth.tx_timestamp", tvb(28, 2))
	if tvb(0, 2):bitfield(10, 2) ~= 0 then tree:add_proto_expert_info(x.op_high) end
	if not OPS[op] then tree:add_proto_expert_info(x.op) end
	if p.dqp ~= 2 then tree:add_proto_expert_info(x.endpoint_qp) end
	if not p.visited then note_response(p) end
	return OPS[op] or "op " .. op
end

local CONTROL_LABELS = {
	aeth = "Acknowledge Extended Transport Header", seth = "Reliability SACK Header", neth = "Reliability NACK Header",
	peth = "Reliability Probe Header", erth = "Endpoint Request Header", eeth = "Endpoint Response Header",
}

-- ---- the packet ----

-- A list ends with zeros; where something is behind them it is none.
local function add_usids(tree, name, address)
	local last = 2
	for at = 4, 14, 2 do
		if address(at, 2):uint() ~= 0 then
			if last ~= at - 2 then return end
			last = at
		end
	end
	for at = 4, last, 2 do tree:add(f[name], address(at, 2)) end
end

-- A path that is longer than a destination has its end in the one segment of a routing header, until that is taken.
local function dissect_segment(path)
	local segment, left = get_segment(), get_segments_left()
	if segment and left and left.value > 0 then
		add_usids(path:add(segment.range, "Segment"), "srv6.segment_usid", segment.range)
	end
end

local function dissect_carrier(tree, c, p)
	if not c then return end
	local tos = traffic_class(c)
	p.class = class_of_dscp[math.floor(tos / 4)] or NO_CLASS
	p.cut = p.class == TRIMMED or p.class == LASTHOP
	tree:add(f.class, p.class):set_generated()
	if tos % 4 == 3 then tree:add_proto_expert_info(x.marked) end
	if p.cut then tree:add_proto_expert_info(x.trimmed) end
	if c.tunnel or goes_to_usids(c) then
		local path = tree:add(c.outer(24, 16), "uSIDs that are left")
		path:add(f["srv6.block"], c.outer(24, 4))
		add_usids(path, "srv6.usid", c.outer(24, 16))
		if c.tunnel then dissect_segment(path) end
	end
end

local function dissect_ev(tree, c, p)
	local ev = tree:add(f.ev, p.ev)
	ev:set_generated()
	if p.ev <= 0xFFFF then return end
	for _, name in ipairs({ "uplink", "t1_uplink", "plane", "free" }) do
		ev:add(f["ev." .. name], p.ev):set_generated()
	end
end

-- A wrong class shows in no other way: switches would cut a SACK, or let data overtake (wire.dscp.control-class).
local function check_class(tree, p)
	if p.class == nil or p.cut then return end
	local is_control = p.row[2] ~= "data" and p.row[2] ~= "peth"
	local good = is_control and p.class == CONTROL or not is_control and p.class <= 2
	if p.row[2] == "peth" then good = p.class == NO_TRIM end
	if not good then tree:add_proto_expert_info(x.class) end
end

local function dissect_links(tree, p)
	local found = links[p.number]
	if not found then return end
	for _, name in ipairs({ "retransmission_of", "trigger", "response_to", "answer" }) do
		if found[name] then tree:add(f[name], found[name]):set_generated() end
	end
	if found.response_time then
		local s = math.floor(found.response_time)
		tree:add(f.response_time, NSTime.new(s, math.floor((found.response_time - s) * 1e9 + 0.5))):set_generated()
	end
	if p.row[2] ~= "data" then return end
	if p.rtx then
		tree:add_proto_expert_info(x.retransmission)
	elseif found.retransmission_of then
		tree:add_proto_expert_info(x.rtx)
	end
end

local function dissect_icrc(tvb, pinfo, tree, c, p)
	local length = tvb:len()
	tree:add_le(f.icrc, tvb(length - ICRC_BYTES, ICRC_BYTES))
	local state = icrc_state(tvb, pinfo, c)
	tree:add(f["icrc.status"], state):set_generated()
	if state == 1 then tree:add_proto_expert_info(x.icrc) end
end

local function dissect_control(tvb, tree, p, last)
	local length = p.row[3]
	if last - BTH_BYTES < length then
		tree:add_proto_expert_info(x.short)
		return "malformed"
	end
	local range = tvb(BTH_BYTES, length)
	if p.pad ~= 0 then tree:add_proto_expert_info(x.pad) end
	if last - BTH_BYTES > length then tree:add_proto_expert_info(x.length) end
	return control[p.row[2]](range, tree:add(range, CONTROL_LABELS[p.row[2]]), p)
end

local function describe_data(tree, tvb, p, last)
	local at = dissect_data(tvb, tree, p, last)
	if not at or (not p.whole and not p.cut) then
		tree:add_proto_expert_info(x.short)
		return "malformed"
	end
	dissect_payload(tvb, tree, p, at, last)
	if not p.visited and not p.cut then note_data(p) end
	return string.format("PSN %d, MSN %d%s%s%s", p.psn, p.msn, p.payload and ", " .. p.payload .. " bytes" or "",
		p.rtx and ", rtx" or "", p.a and ", AckReq" or "")
end

local function is_mrc(tvb)
	return tvb:len() >= BTH_BYTES + ICRC_BYTES and OPCODES[tvb(0, 1):uint()] ~= nil
end

local port_before = {}

function mrc.dissector(tvb, pinfo, root)
	if not is_mrc(tvb) then
		local before = port_before[pinfo.dst_port] or port_before[pinfo.src_port]
		return before and before:call(tvb, pinfo, root) or 0
	end
	local opcode = tvb(0, 1):uint()
	local p = { opcode = opcode, row = OPCODES[opcode], number = pinfo.number, visited = pinfo.visited,
		time = pinfo.abs_ts, src = tostring(pinfo.net_src), dst = tostring(pinfo.net_dst) }
	local c = carrier()

	pinfo.cols.protocol = "MRC"
	local tree = root:add(mrc, tvb(), "Multipath Reliable Connection, " .. p.row[1])
	p.ev = ev_of(c, pinfo.src_port)
	dissect_carrier(tree, c, p)
	dissect_ev(tree, c, p)
	dissect_bth(tvb, tree, p)
	check_class(tree, p)

	-- The ICRC of a trimmed packet went with its end.
	local last = tvb:len() - (p.cut and p.row[2] == "data" and 0 or ICRC_BYTES)
	local text
	if p.row[2] == "data" then
		text = describe_data(tree, tvb, p, last)
	else
		text = dissect_control(tvb, tree, p, last)
	end
	if last < tvb:len() then dissect_icrc(tvb, pinfo, tree, c, p) end
	dissect_links(tree, p)
	pinfo.cols.info = string.format("%s QP 0x%06x, EV 0x%x, %s%s", p.row[1], p.dqp, p.ev, text,
		p.cut and ", trimmed" or "")
	return tvb:len()
end

-- Where the EV, a UDP source port, is the port of another protocol, Wireshark asks that one first. With its
-- preference udp.try_heuristic_first it asks here before.
mrc:register_heuristic("udp", function(tvb, pinfo, root)
	if pinfo.dst_port < mrc.prefs.port or pinfo.dst_port >= mrc.prefs.port + SLOTS or not is_mrc(tvb) then
		return false
	end
	mrc.dissector(tvb, pinfo, root)
	return true
end)

-- ---- ports ----

local udp_ports = DissectorTable.get("udp.port")
local first_port

local function register(port)
	if first_port == port then return end
	if first_port then
		for slot = first_port, first_port + SLOTS - 1 do
			udp_ports:remove(slot, mrc)
			if port_before[slot] then udp_ports:add(slot, port_before[slot]) end
		end
	end
	port_before = {}
	first_port = port
	for slot = port, port + SLOTS - 1 do
		port_before[slot] = udp_ports:get_dissector(slot)
		udp_ports:add(slot, mrc)
	end
end
register(mrc.prefs.port)

function mrc.prefs_changed()
	if mrc.prefs.port >= 1024 and mrc.prefs.port <= 65536 - SLOTS then register(mrc.prefs.port) end
	read_dscp_map(mrc.prefs.dscp)
end
