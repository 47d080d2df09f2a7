/* SPDX-License-Identifier: BSD-2-Clause */
/* scenario_keys.c - the keys of scenario files; docs/simulator.md shows this table to users. */
#include "sim/scenario/scenario_keys.h"

#include <stddef.h>

#include "sim/scenario/scenario.h"

#define US UINT64_C(1000)
#define MS_(n) ((n)*UINT64_C(1000000))
#define SECOND UINT64_C(1000000000)
#define DAY (86400 * SECOND)
#define GIB (UINT64_C(1) << 30)

const char *const ms_load_names[] = {"permutation",
				     "incast",
				     "outcast",
				     "all-to-all",
				     "all-reduce-ring",
				     "all-reduce-tree",
				     "all-reduce-doubling",
				     "all-reduce-hierarchical",
				     "all-gather",
				     "reduce-scatter",
				     "matrix",
				     "flows",
				     "poisson",
				     "flow",
				     "goal",
				     "chakra",
				     "moe",
				     "pipeline",
				     NULL};
static const char *const fault_names[] = {MF_FAULT_SIMULATED_NAMES, NULL};
const char *const ms_class_names[] = {"host-t0", "t0-t1", "t1-t2", "t0", "t1", "t2", NULL};
static const char *const transport_names[] = {"mrc", "roce", NULL};
static const char *const placement_names[] = {"packed", "strided", "random", NULL};
static const char *const job_placement_names[] = {"contiguous", "strided", "random", NULL};
static const char *const dp_names[] = {"all-reduce", "sharded", NULL};
const char *const ms_rate_of_names[] = {"host-t0", "t0-t1", "t1-t2", "t0", "t1",
					"t2",	   "gpu",   "nic",   NULL};
const char *const ms_rate_effect_names[] = {"measure", "interrupt", "none", NULL};
static const char *const cc_names[] = {"none", "nscc", NULL};
static const char *const roce_cc_names[] = {"none", "dcqcn", NULL};

#define KEY(name, kind, type, field, min, max, fallback, help) \
	MS_KEY(name, kind, type, field, min, max, NULL, fallback, help)
#define WORD(name, type, field, words, fallback, help) \
	MS_KEY(name, WORD, type, field, 0, 0, words, fallback, help)
#define TEXT(name, type, field, fallback, help) \
	MS_KEY(name, TEXT, type, field, 0, 0, NULL, fallback, help)
#define LIST(name, type, field, fallback, help) \
	MS_KEY(name, LIST, type, field, 0, 0, NULL, fallback, help)

#define HEAD struct ms_scenario_head
static const struct ms_key head_keys[] = {
	TEXT("title", HEAD, title, "none", "what it is, in a line"),
	KEY("seed", NUMBER, HEAD, seed, 1, UINT64_MAX >> 1, "1",
	    "of everything random; equal seeds give equal runs, bit for bit"),
	KEY("threads", NUMBER, HEAD, threads, 1, MS_THREADS_MAX, "1",
	    "they change how long a run takes, nothing else"),
	KEY("end", TIME, HEAD, end_ns, 1, DAY, "when all flows are finished",
	    "simulated time after which the run is stopped"),
};

#define TOPOLOGY struct ms_scenario_topology
static const struct ms_key topology_keys[] = {
	TEXT("file", TOPOLOGY, file, "none", "a topology file; its path is relative to this one"),
	TEXT("htsim", TOPOLOGY, htsim, "none", "a .topo file of htsim, likewise; one plane"),
};

#define TRANSPORT struct ms_scenario_transport
static const struct ms_key transport_keys[] = {
	WORD("kind", TRANSPORT, kind, transport_names, "mrc",
	     "what carries workloads that do not say otherwise; queues follow from it"),
};

#define QUEUES struct ms_scenario_queues
static const struct ms_key queues_keys[] = {
	KEY("trimming", BOOLEAN, QUEUES, trimming, 0, 1, "true",
	    "packets that find no room are cut, not dropped"),
	KEY("trim_to", NUMBER, QUEUES, trim_to_bytes, 64, 1024, "of the NIC's frames",
	    "length on the wire of a cut packet"),
	KEY("ecn", BOOLEAN, QUEUES, ecn, 0, 1, "true", "queues mark packets"),
	KEY("ecn_last_hop", BOOLEAN, QUEUES, ecn_last_hop, 0, 1, "false",
	    "MRC: the link to the receiver marks too; it should not. With RoCE it always does"),
};

#define PORT struct ms_queue_cfg
static const struct ms_key port_keys[] = {
	KEY("ecn_min", BYTES, PORT, ecn_min_bytes, 0, GIB,
	    "at least 0.2 BDP and sqrt(3 hosts of a T0) packets; last hop: none",
	    "shorter queues do not mark"),
	KEY("ecn_max", BYTES, PORT, ecn_max_bytes, 0, GIB, "0.8 BDP",
	    "longer ones mark every packet; 0: no marking"),
	KEY("ecn_share", SHARE, PORT, ecn_ppm, 0, MS_SHARE_ONE, "1",
	    "share of packets marked just below ecn_max"),
	KEY("trim", BYTES, PORT, trim_bytes, 0, GIB, "1 BDP; last hop: 1.5 BDP",
	    "packets that would make the queue longer are cut; 0: none are"),
	KEY("data_limit", BYTES, PORT, data_limit_bytes, 0, GIB, "none; without trimming: 5 BDP",
	    "packets that would make it longer are dropped; 0: no limit"),
	KEY("control_limit", BYTES, PORT, control_limit_bytes, 0, GIB, "of the fabric",
	    "the same for SACKs, NACKs, probes and cut packets"),
};

#define NIC struct ms_mrc_cfg
static const struct ms_key mrc_keys[] = {
	KEY("path_mtu", NUMBER, NIC, path_mtu, 256, 4096, "4096",
	    "payload of a packet, a power of 2"),
	KEY("frame_bytes", NUMBER, NIC, frame_bytes, 0, 1024, "IPv6 in IPv6 on Ethernet",
	    "what a packet has on the wire in addition to  headers and payload"),
	KEY("evs", NUMBER, NIC, evs, 1, MT_EVS_MAX, "256 over all planes",
	    "EVs of a plane; more than there are paths: all paths"),
	KEY("evs_active", NUMBER, NIC, evs_active, 0, MT_EVS_MAX, "0",
	    "of these in the rotation, the others are backups; 0: all"),
	KEY("evs_ordered", BOOLEAN, NIC, evs_ordered, 0, 1, "true",
	    "each host has them in the order of links, from a place of its own; false: random"),
	KEY("min_active", NUMBER, NIC, min_active, 1, MT_EVS_MAX, "of the NIC",
	    "of all planes: fewer are never left usable"),
	KEY("ev_feedback", BOOLEAN, NIC, ev_feedback, 0, 1, "true",
	    "marks, cut packets and losses say which EVs to use; false: oblivious spraying, to "
	    "compare"),
	KEY("ecn_steering", BOOLEAN, NIC, ecn_steering, 0, 1, "true",
	    "an EV that is marked is skipped once; false: marks are for NSCC alone"),
	KEY("ev_probes", BOOLEAN, NIC, ev_probes, 0, 1, "true",
	    "bad EVs are probed and come back; false: never"),
	KEY("revive_probes", NUMBER, NIC, revive_probes, 1, 16, "3",
	    "probes in a row that bring an EV back"),
	KEY("probe_interval", TIME, NIC, probe_interval_ns, US, SECOND, "of the NIC",
	    "between probes of a bad EV"),
	KEY("probe_interval_max", TIME, NIC, probe_interval_max_ns, US, 60 * SECOND, "of the NIC",
	    "doubling after relapses, and four times after failures, stops here"),
	KEY("trim_nack", BOOLEAN, NIC, trim_nack, 0, 1, "as queues.trimming",
	    "cut packets are answered with NACKs"),
	KEY("mpr", NUMBER, NIC, mpr, 1, RD_MPR_MAX, "8", "window, in units of 128 packets"),
	KEY("depth", NUMBER, NIC, depth, 1, 1024, "of the NIC",
	    "messages of a flow posted at once, at most"),
	KEY("timeout", NUMBER, NIC, timeout, 0, RD_TIMEOUT_MAX, "of the NIC",
	    "ACK timeout of 1.024us x 2^timeout"),
	KEY("retry_linear", NUMBER, NIC, retry_linear, 0, RD_RETRY_LINEAR_MAX, "7",
	    "retries at the same timeout"),
	KEY("retry_exp", NUMBER, NIC, retry_exp, 0, RD_RETRY_EXP_FOREVER, "of the NIC",
	    "retries at doubled timeouts; 25: for ever"),
	KEY("linger", TIME, NIC, linger_ns, 0, SECOND, "of the NIC",
	    "for how long a receiver keeps a connection that is over"),
	KEY("reorder_min", TIME, NIC, timing.reorder_min_ns, 0, SECOND, "of the NIC",
	    "a hole is no loss before this"),
	KEY("reorder_max", TIME, NIC, timing.reorder_max_ns, US, SECOND, "of the NIC",
	    "and surely one after this"),
	KEY("port_hold", TIME, NIC, timing.port_hold_ns, 0, SECOND, "of the NIC",
	    "how long a port may hold a packet"),
	KEY("tail_probe_min", TIME, NIC, timing.tail_probe_min_ns, US, SECOND, "of the NIC",
	    "silence after which a probe asks for a SACK"),
	KEY("rto_min", TIME, NIC, timing.rto_min_ns, US, SECOND, "of the NIC",
	    "floor of the ACK timeout"),
	KEY("sack_bytes", NUMBER, NIC, timing.sack_bytes, 64, 1u << 24, "4096",
	    "bytes after which a SACK is due"),
	KEY("sack_in_order_bytes", NUMBER, NIC, timing.sack_in_order_bytes, 0, 1u << 24, "0",
	    "and in order; above sack_bytes: messages need not ask"),
};

static const struct ms_key nscc_keys[] = {
	WORD("control", NIC, cc.kind, cc_names, "nscc", "congestion control"),
	KEY("quick_adapt_off", BOOLEAN, NIC, cc.disable_quick_adapt, 0, 1, "false",
	    "cuts do not set the window to what arrived"),
	KEY("qa_gate", NUMBER, NIC, cc.qa_gate, 0, 31, "3",
	    "quick adapt acts below max_cwnd / 2^qa_gate"),
	KEY("base_rtt", TIME, NIC, cc.base_rtt_ns, 100, SECOND / 2, "of the fabric",
	    "of the empty network"),
	KEY("base_rtt_min", TIME, NIC, cc.base_rtt_min_ns, 0, SECOND / 2, "none",
	    "smaller samples do not lower it below this"),
	KEY("target_delay", TIME, NIC, cc.target_qdelay_ns, 0, SECOND,
	    "0.75 base_rtt; without trimming 1", "queueing delay aimed at"),
	KEY("max_cwnd", BYTES, NIC, cc.max_cwnd_bytes, 0, GIB, "1.5 BDP", "the largest window"),
	KEY("qa_threshold", TIME, NIC, cc.qa_threshold_ns, 0, SECOND, "4 target_delay",
	    "delay as bad as a loss, without trimming"),
	KEY("adjust_period", TIME, NIC, cc.adjust_period_ns, 0, SECOND, "base_rtt",
	    "the window is adjusted so often"),
	KEY("adjust_bytes", BYTES, NIC, cc.adjust_bytes, 0, GIB, "8 packets",
	    "and after so many bytes"),
	KEY("eta", BYTES, NIC, cc.eta_bytes, 0, GIB, "0.15 packets, scaled", "added each period"),
	KEY("fi", BYTES, NIC, cc.fair_bytes, 0, GIB, "5 packets, scaled",
	    "fair increase for each byte"),
};

#define ROCE struct ms_roce_cfg
static const struct ms_key roce_keys[] = {
	KEY("qps", NUMBER, ROCE, qps, 1, MS_ROCE_QPS_MAX, "1",
	    "of a flow; each message is cut over them"),
	KEY("path_mtu", NUMBER, ROCE, path_mtu, 256, 4096, "4096",
	    "payload of a packet, a power of 2"),
	KEY("frame_bytes", NUMBER, ROCE, frame_bytes, 0, 1024, "IPv6 on Ethernet",
	    "what a packet has on the wire in addition to  headers and payload"),
	KEY("ack_every", NUMBER, ROCE, ack_every, 1, 65535, "16",
	    "packets for which there is one ACK; the end of a message has one of its own"),
	KEY("depth", NUMBER, ROCE, depth, 1, 1024, "8",
	    "messages of a flow posted at once, at most"),
	KEY("timeout", NUMBER, ROCE, timeout, 0, MS_ROCE_TIMEOUT_MAX, "14",
	    "ACK timeout of 4.096us x 2^timeout"),
	KEY("retry_cnt", NUMBER, ROCE, retry_cnt, 0, MS_ROCE_RETRY_MAX, "7",
	    "retries without progress; then the QP is dead and its flow has failed"),
	WORD("control", ROCE, congestion_control, roce_cc_names, "dcqcn", "congestion control"),
};

static const struct ms_key dcqcn_keys[] = {
	KEY("min_rate", RATE, ROCE, dcqcn.min_bps, 1, UINT64_C(1) << 43, "10M at 40G",
	    "the lowest rate"),
	KEY("rate_ai", RATE, ROCE, dcqcn.rate_ai_bps, 0, UINT64_C(1) << 43, "40M at 40G",
	    "R_AI: additive increase of the target"),
	KEY("rate_hai", RATE, ROCE, dcqcn.rate_hai_bps, 0, UINT64_C(1) << 43, "400M at 40G",
	    "R_HAI: hyper increase"),
	KEY("alpha_timer", TIME, ROCE, dcqcn.alpha_timer_ns, 1, SECOND, "55us",
	    "alpha sinks so often without a CNP"),
	KEY("rate_timer", TIME, ROCE, dcqcn.rate_timer_ns, 1, SECOND, "55us",
	    "T: the rate rises so often"),
	KEY("byte_counter", BYTES, ROCE, dcqcn.byte_counter, 1, GIB, "10000000 at 40G",
	    "B: and after so many bytes"),
	KEY("fast_rounds", NUMBER, ROCE, dcqcn.fast_rounds, 0, 1000, "5",
	    "F: rounds of fast recovery"),
	KEY("g_shift", NUMBER, ROCE, dcqcn.g_shift, 1, 16, "8", "g is 1 / 2^g_shift"),
	KEY("cnp_interval", TIME, ROCE, dcqcn.cnp_interval_ns, 0, SECOND, "50us",
	    "a receiver sends no two CNPs of a QP closer together"),
};

#define PFC struct ms_pfc_cfg
static const struct ms_key pfc_keys[] = {
	KEY("enabled", BOOLEAN, PFC, on, 0, 1, "true with transport.kind = \"roce\"",
	    "switches pause who sends to them instead of dropping"),
	KEY("xoff", BYTES, PFC, xoff_bytes, 1, GIB, "1 BDP; with roce as ecn_max, if more",
	    "a link of which more data waits in a switch is paused"),
	KEY("xon", BYTES, PFC, xon_bytes, 0, GIB, "two MTUs below xoff",
	    "and goes on when no more than this is left"),
	KEY("headroom", BYTES, PFC, headroom_bytes, 0, GIB, "what the longest link needs",
	    "for what comes after a pause was sent; beyond it is dropped"),
};

static const struct ms_key routing_keys[] = {
	KEY("reconverge", TIME, struct ms_run_cfg, reconverge_ns, 0, DAY, "1s",
	    "ECMP leaves out, or takes back, a link so long after its carrier went or came"),
};

#define LOAD struct ms_scenario_workload
static const struct ms_key workload_keys[] = {
	WORD("kind", LOAD, kind, ms_load_names, "must be given", "who sends to whom"),
	WORD("transport", LOAD, transport, transport_names, "that of [transport]",
	     "what carries it"),
	KEY("bytes", BYTES, LOAD, bytes, 0, MS_LIST_BYTES_MAX, "1M",
	    "of each flow; collectives: of each member"),
	KEY("start", TIME, LOAD, start_ns, 0, DAY, "0", "simulated time"),
	KEY("across_t0", BOOLEAN, LOAD, across_t0, 0, 1, "false",
	    "permutation: no host sends to one of its own T0"),
	KEY("groups", NUMBER, LOAD, groups, 0, 1u << 24, "as many as fit",
	    "that do the same at once"),
	KEY("group_size", NUMBER, LOAD, group_size, 2, 1u << 24, "all hosts",
	    "members of a group; incast and outcast: the fan and one; chakra: ranks"),
	WORD("placement", LOAD, placement, placement_names, "packed",
	     "packed: neighbours; strided: each member on a T0 of its own where possible; random"),
	KEY("parallel", NUMBER, LOAD, parallel, 0, 1u << 24, "0",
	    "all-to-all: flows of a host at once; 0: all"),
	KEY("chunks", NUMBER, LOAD, chunks, 1, 65536, "8",
	    "all-reduce-tree: parts in the pipeline; pipeline: microbatches"),
	KEY("local_size", NUMBER, LOAD, local_size, 2, 1u << 24, "8",
	    "all-reduce-hierarchical: members of the inner rings"),
	TEXT("file", LOAD, file, "must be given",
	     "matrix: .cm of htsim; flows: CSV; poisson: sizes and shares; goal: text or binary; "
	     "chakra: PATH of PATH.0.et and so on, or one .et for all ranks"),
	TEXT("group_file", LOAD, group_file, "what the trace itself says",
	     "chakra: JSON that says who is in which process group, {\"1\": [0, 1]}"),
	KEY("load", SHARE, LOAD, load, 1, 4ull * MS_SHARE_ONE, "0.5",
	    "poisson: share of its rate that a host sends on average"),
	KEY("for", TIME, LOAD, for_ns, 1, DAY, "1ms", "poisson: flows begin for this long"),
	KEY("src", NUMBER, LOAD, src, 0, 1u << 24, "0", "flow: the host that sends"),
	KEY("dst", NUMBER, LOAD, dst, 0, 1u << 24, "1", "flow: the host that receives"),
	KEY("skew", SHARE, LOAD, skew, MS_SHARE_ONE, 1000ull * MS_SHARE_ONE, "2",
	    "moe: times its even share that the most wanted member gets"),
	KEY("compute", TIME, LOAD, compute_ns, 0, DAY, "0",
	    "pipeline: of a microbatch at a member"),
	KEY("seed", NUMBER, LOAD, seed, 1, UINT64_MAX >> 1, "that of the scenario",
	    "of what is random in it"),
};

#define JOB struct ms_scenario_job
static const struct ms_key job_keys[] = {
	WORD("transport", JOB, transport, transport_names, "that of [transport]",
	     "what carries it"),
	KEY("tp", NUMBER, JOB, cfg.tp, 1, MS_JOB_RANKS_MAX, "1", "tensor parallelism"),
	KEY("pp", NUMBER, JOB, cfg.pp, 1, MS_JOB_RANKS_MAX, "1", "stages of the pipeline"),
	KEY("dp", NUMBER, JOB, cfg.dp, 1, MS_JOB_RANKS_MAX, "1", "data parallelism"),
	KEY("ep", NUMBER, JOB, cfg.ep, 1, MS_JOB_RANKS_MAX, "1",
	    "members of an expert group; a divisor of dp"),
	WORD("placement", JOB, placement, job_placement_names, "contiguous",
	     "rank r on host first + r, on first + r * stride, or on first + r of a random order"),
	KEY("first", NUMBER, JOB, cfg.first, 0, 1u << 24, "0", "see placement"),
	KEY("stride", NUMBER, JOB, cfg.stride, 1, 1u << 24, "1", "see placement"),
	KEY("steps", NUMBER, JOB, cfg.steps, 1, MS_JOB_STEPS_MAX, "10", "steps of training"),
	KEY("microbatches", NUMBER, JOB, cfg.microbatches, 1, 4096, "1", "of a step"),
	KEY("forward", TIME, JOB, cfg.forward_ns, 0, DAY, "1ms",
	    "compute of a stage for one microbatch"),
	KEY("backward", TIME, JOB, cfg.backward_ns, 0, DAY, "2ms",
	    "the same for the backward pass"),
	KEY("optimizer", TIME, JOB, cfg.optimizer_ns, 0, DAY, "0", "after the gradients"),
	KEY("jitter", SHARE, JOB, cfg.jitter, 0, 100ull * MS_SHARE_ONE, "0",
	    "computes take longer by this share on average, exponentially distributed"),
	KEY("stragglers", SHARE, JOB, cfg.stragglers, 0, MS_SHARE_ONE, "0",
	    "share of ranks that are always slow"),
	KEY("slowdown", SHARE, JOB, cfg.slowdown, 0, 100ull * MS_SHARE_ONE, "0.1",
	    "by this share they take longer"),
	WORD("dp_mode", JOB, dp_mode, dp_names, "all-reduce",
	     "sharded: reduce-scatter, optimizer, all-gather before the next forward pass"),
	KEY("dp_bytes", BYTES, JOB, cfg.dp_bytes, 0, MS_LIST_BYTES_MAX, "64M",
	    "gradients of a rank"),
	KEY("buckets", NUMBER, JOB, cfg.buckets, 1, 1024, "4", "in which gradients go"),
	KEY("overlap", BOOLEAN, JOB, cfg.overlap, 0, 1, "true",
	    "buckets go while the last backward pass is computed"),
	KEY("pp_bytes", BYTES, JOB, cfg.pp_bytes, 0, UINT32_MAX, "1M",
	    "of a microbatch from one stage to the next"),
	KEY("ep_bytes", BYTES, JOB, cfg.ep_bytes, 0, UINT32_MAX, "64k",
	    "to each other member in one exchange of experts"),
	KEY("ep_rounds", NUMBER, JOB, cfg.ep_rounds, 1, 1024, "1",
	    "each of two exchanges, in each pass of a microbatch"),
	KEY("tp_bytes", BYTES, JOB, cfg.tp_bytes, 0, UINT32_MAX, "0",
	    "all-reduced by tensor groups in each pass of a microbatch"),
	KEY("tp_network", BOOLEAN, JOB, cfg.tp_network, 0, 1, "false",
	    "over the network, not inside a scale-up domain"),
	KEY("tp_rate", RATE, JOB, cfg.tp_bit_s, 1000000, UINT64_C(1000000000000000), "7200G",
	    "of a GPU inside its scale-up domain"),
	KEY("checkpoint_every", NUMBER, JOB, cfg.checkpoint_every, 0, MS_JOB_STEPS_MAX, "0",
	    "steps; 0: never"),
	KEY("checkpoint", TIME, JOB, cfg.checkpoint_ns, 0, DAY, "0",
	    "nothing is computed for this long"),
	KEY("start", TIME, JOB, start_ns, 0, DAY, "0", "simulated time"),
	KEY("seed", NUMBER, JOB, seed, 1, UINT64_MAX >> 1, "that of the scenario",
	    "of jitter and stragglers"),
};

#define FAULT struct ms_scenario_fault
static const struct ms_key fault_keys[] = {
	WORD("kind", FAULT, kind, fault_names, "must be given", "what happens"),
	TEXT("target", FAULT, target, "this or `of` must be given",
	     "a node (host3, plane0.t1-2), a link by who sends on it (plane0.t0-1.u2), a "
	     "transceiver (plane0.t0-1.transceiver0) or plane0"),
	WORD("of", FAULT, of, ms_class_names, "this or `target` must be given",
	     "every cable, or every switch of a tier, instead of one target"),
	WORD("direction", FAULT, direction, mf_direction_names, "both",
	     "which direction suffers: out of the target, into it"),
	KEY("at", TIME, FAULT, at_ns, 0, DAY, "0", "simulated time"),
	KEY("for", TIME, FAULT, for_ns, 1, DAY, "to the end", "then all is well again"),
	KEY("share", SHARE, FAULT, share, 1, MS_SHARE_ONE, "must be given",
	    "loss, corrupt: of packets; slow: of the rate that is left"),
	KEY("period", TIME, FAULT, period_ns, 2, DAY, "must be given",
	    "flap: down for its first half, up for the second"),
};

static const struct ms_key random_keys[] = {
	WORD("kind", FAULT, kind, fault_names, "must be given", "as of [[fault]]"),
	WORD("of", FAULT, of, ms_class_names, "must be given",
	     "what it happens to: cables, or switches of a tier"),
	KEY("between", TIME, FAULT, between_ns, 1, 365 * DAY, "must be given",
	    "mean time between two of them in the whole fabric"),
	KEY("for", TIME, FAULT, for_ns, 1, DAY, "must be given", "mean time to repair"),
	KEY("at", TIME, FAULT, at_ns, 0, DAY, "0", "none happen before"),
	KEY("share", SHARE, FAULT, share, 1, MS_SHARE_ONE, "must be given", "as of [[fault]]"),
};

#define GOODPUT struct ms_scenario_goodput
static const struct ms_key goodput_keys[] = {
	LIST("gpus", GOODPUT, gpus, "that of the job", "sizes of the job"),
	TEXT("fabric", GOODPUT, fabric, "that of the scenario",
	     "a preset: how many cables and switches there are for each GPU"),
	KEY("horizon", TIME, GOODPUT, horizon_ns, SECOND, 365 * DAY, "30d", "of one trial"),
	KEY("trials", NUMBER, GOODPUT, trials, 1, 1000, "8", "with other seeds"),
	KEY("checkpoint_every", TIME, GOODPUT, checkpoint_every_ns, SECOND, 365 * DAY,
	    "Young's best", "work between two checkpoints"),
	KEY("checkpoint", TIME, GOODPUT, checkpoint_ns, 0, DAY, "30s",
	    "there is no progress for so long"),
	KEY("restart", TIME, GOODPUT, restart_ns, 0, DAY, "5m",
	    "from an interruption until there is progress again"),
	LIST("reconverge", GOODPUT, reconverge, "none",
	     "routing that takes so long to lead round a fault; compared with what was measured"),
	KEY("dies_after", TIME, GOODPUT, dies_after_ns, 1, DAY, "never",
	    "a longer outage ends QPs, and the job has to restart"),
	KEY("samples", NUMBER, GOODPUT, samples, 1, 16, "2",
	    "packet runs for each kind of fault, at different moments of a step"),
};

#define RATE_ struct ms_scenario_rate
static const struct ms_key rate_keys[] = {
	TEXT("name", RATE_, name, "as `of`", "in tables"),
	WORD("of", RATE_, of, ms_rate_of_names, "must be given",
	     "what fails: a cable, a switch of a tier, a GPU, a NIC with all its ports"),
	WORD("kind", RATE_, kind, fault_names, "down", "as of [[fault]]"),
	KEY("per_year", REAL, RATE_, per_year, 0, 0, "this or per_minute", "of one of them"),
	KEY("per_minute", REAL, RATE_, per_minute, 0, 0, "this or per_year",
	    "of all of them together"),
	KEY("among", NUMBER, RATE_, among, 1, 1u << 24, "the fabric's",
	    "GPUs of the fabric of which per_minute speaks"),
	KEY("repair", TIME, RATE_, repair_ns, 0, 365 * DAY, "0", "how long one lasts, in the mean"),
	KEY("share", SHARE, RATE_, share, 1, MS_SHARE_ONE, "must be given", "as of [[fault]]"),
	WORD("effect", RATE_, effect, ms_rate_effect_names, "measure; of GPUs and NICs: interrupt",
	     "on the job: what packet runs say, an interruption, none"),
	TEXT("source", RATE_, source, "none", "where the rate comes from"),
};

#define OUTPUT struct ms_scenario_output
static const struct ms_key output_keys[] = {
	TEXT("flows", OUTPUT, flows, "none", "CSV with a line for each flow"),
	TEXT("series", OUTPUT, series, "none", "CSV with a line for each link and time"),
	TEXT("evs", OUTPUT, evs, "none", "CSV with a line for each time: EVs and NICs together"),
	KEY("every", TIME, OUTPUT, every_ns, 100, DAY, "10us", "time between two of them"),
	LIST("links", OUTPUT, links, "all, of fabrics with up to 4096 links", "links of `series`"),
	TEXT("capture", OUTPUT, capture, "none", "pcapng of real frames"),
	LIST("capture_links", OUTPUT, capture_links, "must be given with capture",
	     "links that are captured, by who sends on them"),
	KEY("capture_packets", NUMBER, OUTPUT, capture_packets, 1, UINT64_C(1) << 40, "100000",
	    "the file ends after so many"),
};

#define EXPECT struct ms_expectation
static const struct ms_key expect_keys[] = {
	TEXT("figure", EXPECT, figure, "must be given", "of the JSON result: \"fct_us.p100\""),
	KEY("min", REAL, EXPECT, min, 0, 0, "none", "it must not be less"),
	KEY("max", REAL, EXPECT, max, 0, 0, "none", "it must not be more"),
	TEXT("than", EXPECT, than, "none", "another scenario: its figure divides this one first"),
	TEXT("source", EXPECT, source, "none", "where the value comes from"),
};

/* NOLINTBEGIN(bugprone-macro-parentheses): a member has none. */
#define TABLE(table, text, list, field)                                       \
	.name = table, .about = text, .keys = list, .n_keys = MS_COUNT(list), \
	.offset = offsetof(struct ms_scenario, field)
#define PORT_TABLE(port, ports)                                                               \
	{                                                                                     \
		TABLE("queues." ports, "the queue of such ports", port_keys, run.queue[port]) \
	}
#define LIST_TABLE(table, text, list, field, count)                          \
	TABLE(table, text, list, field),                                     \
		.stride = sizeof(((struct ms_scenario *)0)->field[0]),       \
		.count_offset = offsetof(struct ms_scenario, count),         \
		.line_offset = offsetof(struct ms_scenario, field[0].line) - \
			       offsetof(struct ms_scenario, field[0]),       \
		.max = MS_COUNT(((struct ms_scenario *)0)->field)
/* NOLINTEND(bugprone-macro-parentheses) */

static const struct ms_table tables[] = {
	{TABLE("", "", head_keys, head), .first = true},
	{TABLE("topology", "and all keys of topology files: see docs/fabric.md", topology_keys,
	       topology),
	 .first = true},
	{TABLE("transport", "MRC, or RoCEv2 for comparison", transport_keys, transport),
	 .first = true},
	{TABLE("queues", "queues of all ports", queues_keys, queues), .first = true},
	PORT_TABLE(MS_PORT_HOST_UP, "host_up"),
	PORT_TABLE(MS_PORT_T0_DOWN, "t0_down"),
	PORT_TABLE(MS_PORT_T0_UP, "t0_up"),
	PORT_TABLE(MS_PORT_T1_DOWN, "t1_down"),
	PORT_TABLE(MS_PORT_T1_UP, "t1_up"),
	PORT_TABLE(MS_PORT_T2_DOWN, "t2_down"),
	{TABLE("mrc", "the NICs", mrc_keys, run.mrc)},
	{TABLE("nscc", "their congestion control", nscc_keys, run.mrc)},
	{TABLE("roce", "the NICs of RoCEv2", roce_keys, run.roce)},
	{TABLE("dcqcn",
	       "their congestion control; marks are those of [queues]; rates and bytes follow the "
	       "port's rate",
	       dcqcn_keys, run.roce)},
	{TABLE("pfc", "priority flow control of the data class; with it data_limit does not count",
	       pfc_keys, run.pfc)},
	{TABLE("routing", "of packets whose path switches choose: RoCE's", routing_keys, run)},
	{LIST_TABLE("workload", "up to 8 of them, in parallel", workload_keys, workload,
		    n_workloads)},
	{LIST_TABLE("job",
		    "training jobs, in parallel with each other and with the workloads, 8 in all",
		    job_keys, job, n_jobs)},
	{LIST_TABLE("fault", "what goes wrong at a certain time", fault_keys, fault, n_faults)},
	{LIST_TABLE("random", "what goes wrong at random", random_keys, random, n_randoms)},
	{TABLE("goodput", "the long horizon of the first job, for mrc sim goodput", goodput_keys,
	       goodput)},
	{LIST_TABLE("rate", "what fails over the long horizon", rate_keys, rate, n_rates)},
	{TABLE("output", "files that a run writes; paths are relative to the current directory",
	       output_keys, output)},
	{LIST_TABLE("expect", "what must hold in the end; checked with --expect", expect_keys,
		    expectation, n_expectations)},
};

const struct ms_table *ms_scenario_tables(size_t *n)
{
	*n = MS_COUNT(tables);
	return tables;
}
