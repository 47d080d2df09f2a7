/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * charts.js - which curves and tables a page has, of the results in it: of runs of the simulator, of a
 * sweep over them, of the demo, of a lab's scenario. It needs no document, so that a test computes them too.
 */
"use strict";
const softmrc_charts = (() => {
	const MARKED = [0.5, 0.99, 1]; /* P50, P99, P100 */

	/* ---- values ---- */

	const at = (value, path) => path.split(".").reduce((v, key) => (v == null ? v : v[key]), value);

	function number(x) {
		if (typeof x !== "number" || !isFinite(x)) return "–";
		if (x !== 0 && Math.abs(x) < 1e-3) return x.toExponential(3);
		return x.toLocaleString("en", { maximumSignificantDigits: Math.abs(x) >= 1e5 ? 12 : 5 });
	}

	/* time_unit picks the unit in which a longest time reads well; times come in us. */
	function time_unit(longest_us) {
		if (longest_us >= 2e6) return { name: "s", us: 1e6 };
		return longest_us >= 2000 ? { name: "ms", us: 1000 } : { name: "µs", us: 1 };
	}

	const shown = (v) => (typeof v === "number" ? number(v) : v === undefined || v === null ? "–" : String(v));

	const last = (list) => list[list.length - 1];

	/* ---- which curves there are ---- */

	const part_names = (runs) => ((runs[0] || { result: {} }).result.parts || []).map((p) => p.kind);

	function faults_of(runs, unit) {
		const seen = new Map();
		for (const run of runs)
			for (const f of run.result.faults || []) {
				if (f.between_us !== undefined || (f.at_us === 0 && f.for_us === undefined)) continue;
				const key = JSON.stringify([f.kind, f.at_us, f.for_us]);
				if (!seen.has(key)) seen.set(key, { f, targets: new Set(), runs: new Set() });
				seen.get(key).targets.add(f.target);
				seen.get(key).runs.add(run.name);
			}
		return [...seen.values()].map(({ f, targets, runs: names }) => {
			const from = f.at_us / unit.us, to = f.for_us === undefined ? Infinity : (f.at_us + f.for_us) / unit.us;
			const what = f.kind + " " + f.target + (targets.size > 1 ? " and " + (targets.size - 1) + " more" : "");
			const when = to === Infinity ? "from " + number(from) + " " + unit.name + " on" : number(from) + " to " + number(to) + " " + unit.name;
			return { from, to, label: what + ", " + when + (names.size < runs.length ? " (" + [...names].join(", ") + ")" : "") };
		});
	}

	/* over_time makes a chart of one thing that histories hold, a curve for each run. */
	function over_time(title, unit_name, runs, pick, extra) {
		const with_history = runs.filter((r) => r.result.history && pick(r.result.history));
		if (with_history.length === 0) return null;
		const unit = time_unit(Math.max(...with_history.map((r) => last(r.result.history.time_us) || 0)));
		return Object.assign({
			title, kind: "line", x: { label: "time (" + unit.name + ")" }, y: { label: unit_name, zero: true },
			faults: faults_of(with_history, unit),
			series: with_history.map((r) => ({
				name: r.name,
				points: pick(r.result.history).map((y, i) => ({ x: r.result.history.time_us[i] / unit.us, y })),
			})),
		}, extra);
	}

	function cdf(title, runs, part) {
		const having = runs.filter((r) => (at(r.result, "parts." + part + ".cdf.us") || []).length > 0);
		if (having.length === 0) return null;
		const unit = time_unit(Math.max(...having.map((r) => last(r.result.parts[part].cdf.us))));
		return {
			title, kind: "cdf", x: { label: "completion time (" + unit.name + ")" },
			y: { label: "share of flows (%)", zero: true, max: 100 },
			series: having.map((r) => {
				const c = r.result.parts[part].cdf;
				return { name: r.name, points: c.us.map((us, i) => ({ x: us / unit.us, y: 100 * c.share[i], marked: MARKED.includes(c.share[i]) })) };
			}),
			table: {
				head: ["completion time (" + unit.name + ")", "P50", "P99", "P100"],
				rows: having.map((r) => [r.name].concat(MARKED.map((share) => {
					const c = r.result.parts[part].cdf;
					return number(c.us[c.share.indexOf(share)] / unit.us);
				}))),
			},
		};
	}

	/* What two or more results show when nobody says what to look at. */
	function default_charts(runs) {
		const parts = part_names(runs);
		const name = (i) => (parts.length > 1 ? " of part " + i + ", " + parts[i] : "");
		const charts = [];
		parts.forEach((kind, i) => {
			charts.push(over_time("Goodput" + name(i), "placed (Gb/s)", runs, (h) => h.gbps[i]));
			charts.push(cdf("Completion times" + name(i), runs, i));
		});
		for (const [field, title] of [["marks", "Packets marked by ECN"], ["trims", "Packets cut"], ["drops", "Packets dropped"],
			["retransmits", "Packets sent again"], ["evs_bad", "EVs in trouble"]]) {
			const some = runs.some((r) => r.result.history && r.result.history[field].some((v) => v !== 0));
			if (some) charts.push(over_time(title, field === "evs_bad" ? "EVs" : "packets in an interval", runs, (h) => h[field]));
		}
		const links = new Set(runs.flatMap((r) => Object.keys(at(r.result, "history.links") || {})));
		for (const link of links) charts.push(over_time("Link " + link, "carried (Gb/s)", runs, (h) => h.links[link]));
		return charts;
	}

	/* A chart that a figure asks for. */
	function asked_chart(c, all) {
		const runs = c.runs.length ? c.runs.map((n) => all.find((r) => r.name === n)).filter(Boolean) : all;
		if (c.kind === "time") {
			if (c.figure.startsWith("links.")) {
				/* One run, several links: a curve for each. */
				const names = c.figure.slice(6).split("+");
				const first = over_time(c.title, c.y || "carried (Gb/s)", runs.slice(0, 1), (h) => h.links[names[0]]);
				if (!first) return null;
				const unit_us = time_unit(last(runs[0].result.history.time_us)).us;
				first.series = names.map((name) => ({
					name, points: runs[0].result.history.links[name].map((y, i) => ({ x: runs[0].result.history.time_us[i] / unit_us, y })),
				}));
				return first;
			}
			return over_time(c.title, c.y || "placed (Gb/s)", runs, (h) => at(h, c.figure));
		}
		if (c.kind === "cdf") return cdf(c.title, runs, Number(c.figure || 0));
		if (c.kind === "bars")
			return { title: c.title, kind: "bar", x: { label: c.x || "" }, y: { label: c.y, zero: true }, labels: runs.map((r) => r.name),
				series: [{ name: c.y, points: runs.map((r) => at(r.result, c.figure)) }] };
		/* "sweep": runs of a family, one x each. */
		const families = new Map();
		for (const r of runs) {
			const y = at(r.result, c.figure);
			if (r.x === undefined || typeof y !== "number") continue;
			if (!families.has(r.family)) families.set(r.family, []);
			families.get(r.family).push({ x: r.x, y });
		}
		return { title: c.title, kind: "line", dots: true, x: { label: c.x, log: c.log }, y: { label: c.y, zero: true },
			series: [...families].map(([name, points]) => ({ name, points: points.sort((p, q) => p.x - q.x) })) };
	}

	/* ---- a sweep ---- */

	/* The axes of a sweep, by the names of its points: mrc.evs=16,seed=1. */
	function axes_of(runs) {
		const points = runs.map((r) => new Map(r.name.split(",").map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)])));
		const keys = [...points[0].keys()];
		return { points, keys, x: keys.find((key) => points.every((p) => /^[0-9.]+[kMG]?$/.test(p.get(key) || "")) && new Set(points.map((p) => p.get(key))).size > 1) };
	}

	const UNITS = { k: 1024, M: 1024 ** 2, G: 1024 ** 3 };
	const value_of = (word) => parseFloat(word) * (UNITS[word[word.length - 1]] || 1);

	function sweep_charts(runs) {
		const axes = axes_of(runs);
		return [["over_ideal", "Time over ideal", "ratio"], ["fct_us.p99", "Completion P99", "µs"], ["fct_us.p100", "Completion of the slowest flow", "µs"],
			["retransmits", "Packets sent again", "packets"], ["trims", "Packets cut", "packets"], ["drops", "Packets dropped", "packets"]].map(([figure, title, unit]) => {
			const y = { label: unit, zero: true }, values = runs.map((r) => at(r.result, figure));
			if (!values.some((v) => typeof v === "number" && v !== 0)) return null;
			if (!axes.x) return { title, kind: "bar", x: { label: axes.keys.join(", ") }, y, labels: runs.map((r) => r.name), series: [{ name: title, points: values }] };
			const families = new Map();
			runs.forEach((r, i) => {
				const family = axes.keys.filter((k) => k !== axes.x).map((k) => k + "=" + axes.points[i].get(k)).join(",") || title;
				if (typeof values[i] !== "number") return;
				if (!families.has(family)) families.set(family, []);
				families.get(family).push({ x: value_of(axes.points[i].get(axes.x)), y: values[i] });
			});
			return { title, kind: "line", dots: true, x: { label: axes.x }, y, series: [...families].map(([name, points]) => ({ name, points: points.sort((p, q) => p.x - q.x) })) };
		});
	}

	/* ---- the demo ---- */

	const DEMO_RUNS = [["with_faults", "MRC, with faults"], ["fault_free", "MRC, undisturbed"], ["tcp", "kernel TCP, with faults"]];

	function demo_bands(demo) {
		return demo.faults.filter((f) => f.struck).map((f) => ({ from: f.strike_s, to: f.clear_s > 0 ? f.clear_s : Infinity,
			label: f.title + ", " + number(f.strike_s) + (f.clear_s > 0 ? " to " + number(f.clear_s) + " s" : " s on") }));
	}

	/* A curve for each job of the demo that has steps; pick makes a point of a step, or null. */
	function demo_series(demo, jobs, pick) {
		return jobs.filter(([key]) => demo[key] && demo[key].step_list.length > 0)
			.map(([key, name]) => ({ name, points: demo[key].step_list.map(pick).filter((p) => p && typeof p.y === "number") }));
	}

	function demo_cdf(demo) {
		const jobs = DEMO_RUNS.slice(0, 2);
		return { title: "Times of steps, as a CDF", kind: "cdf", x: { label: "time of a step (ms)" }, y: { label: "share of steps (%)", zero: true, max: 100 },
			series: demo_series(demo, jobs, (s) => ({ x: s.step_ms, y: s.step_ms })).map(({ name, points }) => {
				points.sort((p, q) => p.x - q.x);
				return { name, points: points.map((p, i) => ({ x: p.x, y: (100 * (i + 1)) / points.length, marked: [0.5, 0.99, 1].some((m) => i + 1 === Math.ceil(m * points.length)) })) };
			}) };
	}

	function demo_charts(demo) {
		const faults = demo_bands(demo), time = { label: "time (s)" };
		const over = (title, label, jobs, pick) => ({ title, kind: "line", x: time, y: { label, zero: true }, faults, series: demo_series(demo, jobs, pick) });
		return [
			over("Time of a step", "ms", DEMO_RUNS.slice(0, 2), (s) => ({ x: s.start_ms / 1000, y: s.step_ms })),
			over("Steps that are done", "steps", DEMO_RUNS, (s, i) => ({ x: (s.start_ms + s.step_ms) / 1000, y: i + 1 })),
			over("Of which all-reduce", "ms", DEMO_RUNS.slice(0, 2), (s) => ({ x: s.start_ms / 1000, y: s.allreduce_ms })),
			demo_cdf(demo),
			{ title: "Loss", kind: "line", x: { label: "step" }, y: { label: "bits a byte", zero: true }, series: demo_series(demo, DEMO_RUNS, (s, i) => ({ x: i + 1, y: s.loss })) },
		];
	}

	/* What a result that is no simulation says of how it was made. */
	const parameters_of = (result, parameters) => ({ caption: "Parameters", head: ["parameter", "value"],
		rows: [["made by softmrc", shown(result.version)], ...Object.entries(parameters).map(([k, v]) => [k, shown(v)])] });

	function demo_tables(demo) {
		const ms = (v) => (typeof v === "number" ? number(v) : "–");
		const faults = { caption: "Faults; times in ms", head: ["fault", "from (s)", "to (s)", "step before", "during", "expected", "after", "found", "left", "all good", "data packets lost"],
			rows: demo.faults.map((f) => [f.title, ms(f.strike_s), ms(f.clear_s), ms(f.before.step_ms), ms(f.during.step_ms), ms(f.expected_step_ms), ms(f.after.step_ms),
				...["found_ms", "left_ms", "all_good_ms"].map((k) => ms((f.times || {})[k])), f.data_packets_lost]) };
		const jobs = DEMO_RUNS.filter(([key]) => demo[key]);
		const row = (label, path) => [label].concat(jobs.map(([key]) => shown(at(demo[key], path))));
		const counters = [...new Set(jobs.flatMap(([key]) => Object.keys(demo[key].counters || {})))];
		return [faults,
			{ caption: "Jobs", head: ["figure"].concat(jobs.map(([, name]) => name)), rows: [row("steps", "steps"), row("finished", "finished"), row("transport", "transport"), row("last loss", "final_loss"),
				["SHA-256 of the weights"].concat(jobs.map(([key]) => shown(demo[key].sha256).slice(0, 16))), row("seconds", "seconds"), ...counters.map((c) => row(c, "counters." + c))] },
			parameters_of(demo, demo.config)];
	}

	/* ---- a scenario of a lab ---- */

	const NAMED = /\b(?:plane\d+(?:\.t[01]-\d+)?(?:\.[udx]\d+(?:-\d+)?)?|host\d+\.e\d+)\b/g;

	function lab_tables(lab) {
		return [{ caption: "What happened", head: ["at (s)", "what"], rows: lab.events.map((e) => [number(e.at_s), { text: e.what, className: "text" }]) },
			parameters_of(lab, Object.assign({ scenario: lab.scenario }, lab.fabric))];
	}

	const checks_table = (checks, what) => ({ head: ["", "what", "actual"].slice(0, checks.some((c) => c.actual !== undefined) ? 3 : 2),
		rows: checks.map((c) => [{ text: c.pass ? "holds" : "does not hold", className: c.pass ? "holds" : "violated" }, { text: c[what], className: "text" }]
			.concat(c.actual !== undefined ? [{ text: c.actual, className: "text" }] : [])) });

	/* ---- all of them ---- */

	function charts(data) {
		const list = data.demo ? demo_charts(data.demo) : data.lab ? [] : data.sweep ? sweep_charts(data.runs)
			: data.charts ? data.charts.map((c) => asked_chart(c, data.runs)) : default_charts(data.runs);
		return list.filter((c) => c && c.series.some((s) => s.points.length > 0));
	}

	/* fabric_of returns the fabric that a page is about, {shape, faults}; null where it has none or several. */
	function fabric_of(data) {
		const of = data.demo || data.lab;
		if (of) return of.fabric ? { shape: of.fabric, faults: (data.lab ? of.events.flatMap((e) => e.what.match(NAMED) || []) : of.faults.flatMap((f) => f.targets || [])).map((target) => ({ target })) } : null;
		const shapes = (data.runs || []).filter((r) => r.result.parameters).map((r) => {
			const p = (name) => r.result.parameters["topology." + name];
			return { planes: p("planes"), tiers: p("tiers"), hosts: p("hosts"), hosts_per_t0: p("hosts_per_t0"), t0s: p("t0s"), t1s: p("t1s") };
		});
		if (shapes.length === 0 || shapes.some((s) => JSON.stringify(s) !== JSON.stringify(shapes[0]))) return null;
		return { shape: shapes[0], faults: data.runs.flatMap((r) => r.result.faults || []) };
	}

	/* ---- tables ---- */

	const FIGURES = [
		["version", "made by softmrc"], ["state", "state"], ["seed", "seed"], ["hosts", "hosts"], ["planes", "planes"], ["flows", "flows"], ["flows_unfinished", "flows unfinished"],
		["fct_us.p50", "completion P50 (µs)"], ["fct_us.p99", "completion P99 (µs)"], ["fct_us.p100", "completion P100 (µs)"],
		["ideal_us", "ideal (µs)"], ["over_ideal", "over ideal"], ["data_packets", "data packets"], ["retransmits", "sent again"],
		["ecn_marks", "marked"], ["trims", "cut"], ["drops", "dropped"], ["core.evs_retired", "EVs retired"],
		["hops", "hops"], ["wall_s", "seconds it took"], ["hash", "hash"],
	];

	function figures_table(runs) {
		const figures = FIGURES.concat([...part_names(runs).keys()].map((k) => ["parts." + k + ".sender_gbps", "part " + k + ": Gb/s of a sender"]));
		const rows = figures.map(([path, label]) => [label].concat(runs.map((r) => shown(at(r.result, path)))));
		if (runs.length === 2)
			figures.forEach(([path], i) => {
				const [a, b] = runs.map((r) => at(r.result, path));
				rows[i].push(typeof a === "number" && typeof b === "number" && a !== 0 && path !== "seed" ? number(b / a) : "");
			});
		return { head: ["figure"].concat(runs.map((r) => r.name), runs.length === 2 ? ["second / first"] : []), rows };
	}

	function parameter_tables(runs) {
		const keys = [...new Set(runs.flatMap((r) => Object.keys(r.result.parameters || {})))];
		const row = (key) => [key].concat(runs.map((r) => shown((r.result.parameters || {})[key])));
		const differs = (key) => new Set(row(key).slice(1)).size > 1;
		const head = ["parameter"].concat(runs.map((r) => r.name));
		return { different: { head, rows: keys.filter(differs).map(row) }, equal: { head: head.slice(0, 1).concat("all runs"), rows: keys.filter((k) => !differs(k)).map((k) => row(k).slice(0, 2)) } };
	}

	/* tables returns what stands below the curves. */
	function tables(data) {
		if (data.demo) return demo_tables(data.demo);
		if (data.lab) return lab_tables(data.lab);
		return [Object.assign(figures_table(data.runs), { caption: "Figures" })];
	}

	/* checks returns the table of what had to hold; null where nothing had to. */
	function checks(data) {
		if (data.demo) return checks_table(data.demo.checks, "text");
		if (data.lab) return checks_table(data.lab.checks, "what");
		if (!data.claims || data.claims.length === 0) return null;
		return { head: ["", "what", "here", "at least", "at most"],
			rows: data.claims.map((c) => [{ text: c.holds ? "holds" : c.differs ? "differs" : "does not hold", className: c.holds ? "holds" : "violated" },
				{ text: c.text + (c.note ? " — " + c.note : ""), className: "text" }, number(c.value), number(c.min), number(c.max)]) };
	}

	return { charts, checks, tables, figures_table, parameter_tables, fabric_of };
})();
if (typeof document === "undefined") globalThis.softmrc_charts = softmrc_charts;
