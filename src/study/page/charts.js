/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * charts.js - makes a page of the results in it. What is to be drawn is computed without a document
 * (softmrc.charts: which curves; softmrc.config: what Chart.js takes), so that a test can do it too;
 * the rest puts it on the page.
 */
"use strict";
const softmrc = (() => {
	const COLOURS = 8;
	const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
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
			y: { label: "share of flows (%)", max: 100 },
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

	function charts(data) {
		const list = data.charts ? data.charts.map((c) => asked_chart(c, data.runs)) : default_charts(data.runs);
		return list.filter((c) => c && c.series.some((s) => s.points.length > 0));
	}

	/* ---- for Chart.js ---- */

	/* Faults are bands behind the curves; the caption below names them. */
	function fault_bands(spec, theme) {
		return {
			id: "faults",
			beforeDatasetsDraw(chart) {
				const { ctx, chartArea: area, scales } = chart;
				(spec.faults || []).forEach((f) => {
					const from = Math.max(scales.x.getPixelForValue(f.from), area.left);
					const to = Math.min(f.to === Infinity ? area.right : scales.x.getPixelForValue(f.to), area.right);
					if (!(to >= from)) return;
					ctx.save();
					ctx.fillStyle = theme.fault;
					ctx.fillRect(from, area.top, Math.max(to - from, 1), area.bottom - area.top);
					ctx.strokeStyle = theme.fault_edge;
					ctx.beginPath();
					ctx.moveTo(from, area.top);
					ctx.lineTo(from, area.bottom);
					ctx.stroke();
					ctx.restore();
				});
			},
		};
	}

	function axis(a, theme, more) {
		return Object.assign({
			title: { display: !!a.label, text: a.label, color: theme.text },
			ticks: { color: theme.quiet }, grid: { color: theme.line },
			min: a.zero ? 0 : undefined, max: a.max,
		}, more);
	}

	function dataset(spec, s, i, theme) {
		const colour = theme.colours[i % COLOURS];
		const common = { label: s.name, borderColor: colour, backgroundColor: colour, borderWidth: 2 };
		if (spec.kind === "bar") return Object.assign(common, { data: s.points, backgroundColor: s.points.map((p, k) => theme.colours[k % COLOURS]), borderWidth: 0 });
		return Object.assign(common, {
			data: s.points, borderDash: DASHES[Math.floor(i / 2) % DASHES.length], stepped: spec.kind === "cdf" ? "before" : false,
			pointRadius: s.points.map((p) => (p.marked ? 5 : spec.dots ? 3.5 : 0)), pointHitRadius: 8, pointStyle: ["circle", "rect", "triangle", "rectRot"][i % 4],
		});
	}

	function config(spec, theme) {
		const bar = spec.kind === "bar";
		return {
			type: bar ? "bar" : "line",
			data: { labels: spec.labels, datasets: spec.series.map((s, i) => dataset(spec, s, i, theme)) },
			options: {
				responsive: true, maintainAspectRatio: false, animation: false, parsing: bar ? undefined : false, normalized: true,
				interaction: { mode: bar ? "index" : "nearest", axis: "x", intersect: false },
				scales: {
					x: axis(spec.x, theme, bar ? { type: "category" } : { type: spec.x.log ? "logarithmic" : "linear" }),
					y: axis(spec.y, theme, { type: "linear" }),
				},
				plugins: { legend: { display: !bar, labels: { color: theme.text, usePointStyle: false, boxWidth: 24, boxHeight: 2 } } },
			},
			plugins: [fault_bands(spec, theme)],
		};
	}

	/* ---- tables ---- */

	const FIGURES = [
		["state", "state"], ["seed", "seed"], ["hosts", "hosts"], ["planes", "planes"], ["flows", "flows"], ["flows_unfinished", "flows unfinished"],
		["fct_us.p50", "completion P50 (µs)"], ["fct_us.p99", "completion P99 (µs)"], ["fct_us.p100", "completion P100 (µs)"],
		["ideal_us", "ideal (µs)"], ["over_ideal", "over ideal"], ["data_packets", "data packets"], ["retransmits", "sent again"],
		["ecn_marks", "marked"], ["trims", "cut"], ["drops", "dropped"], ["core.evs_retired", "EVs retired"],
		["hops", "hops"], ["wall_s", "seconds it took"], ["hash", "hash"],
	];

	const shown = (v) => (typeof v === "number" ? number(v) : v === undefined || v === null ? "–" : String(v));

	function figures_table(runs) {
		const rows = FIGURES.map(([path, label]) => [label].concat(runs.map((r) => shown(at(r.result, path)))));
		for (const kind of part_names(runs).keys())
			rows.push(["part " + kind + ": Gb/s of a sender"].concat(runs.map((r) => shown(at(r.result, "parts." + kind + ".sender_gbps")))));
		if (runs.length === 2)
			FIGURES.forEach(([path], i) => {
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

	/* ---- the page ---- */

	function element(name, text, parent, attributes) {
		const e = document.createElement(name);
		if (text !== undefined && text !== null) e.textContent = text;
		Object.assign(e, attributes || {});
		if (parent) parent.append(e);
		return e;
	}

	function table(parent, t, caption) {
		const box = element("div", null, parent, { className: "scroll" });
		const out = element("table", null, box);
		if (caption) element("caption", caption, out);
		const head = element("tr", null, element("thead", null, out));
		t.head.forEach((h) => element("th", h, head, { scope: "col" }));
		const body = element("tbody", null, out);
		for (const r of t.rows) {
			const row = element("tr", null, body);
			r.forEach((cell) => {
				const td = element("td", typeof cell === "object" ? cell.text : cell, row);
				if (typeof cell === "object") td.className = cell.className;
			});
		}
	}

	function theme_now() {
		const style = getComputedStyle(document.documentElement);
		const v = (name) => style.getPropertyValue(name).trim();
		return { text: v("--text"), quiet: v("--quiet"), line: v("--line"), fault: v("--fault"), fault_edge: v("--fault-edge"),
			colours: Array.from({ length: COLOURS }, (_, i) => v("--c" + i)) };
	}

	function draw(specs, canvases, drawn) {
		const theme = theme_now();
		drawn.forEach((c) => c.destroy());
		drawn.length = 0;
		specs.forEach((spec, i) => drawn.push(new Chart(canvases[i], config(spec, theme))));
	}

	function add_charts(page, specs) {
		const grid = element("div", null, page, { className: "charts" }), canvases = [], drawn = [];
		for (const spec of specs) {
			const figure = element("figure", null, grid);
			element("h3", spec.title, figure);
			const canvas = element("canvas", null, element("div", null, figure, { className: "canvas" }));
			canvas.setAttribute("role", "img");
			canvas.setAttribute("aria-label", spec.title + ": " + spec.y.label + " against " + (spec.x.label || "runs") + ", " + spec.series.map((s) => s.name).join(", "));
			canvases.push(canvas);
			if (spec.table) table(figure, spec.table);
			if ((spec.faults || []).length) element("figcaption", "Shaded: " + spec.faults.map((f) => f.label).join("; "), figure);
		}
		draw(specs, canvases, drawn);
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(specs, canvases, drawn));
		return drawn.length;
	}

	function add_claims(page, claims) {
		if (!claims || claims.length === 0) return;
		element("h2", "What must hold", page);
		table(page, { head: ["", "what", "here", "at least", "at most"],
			rows: claims.map((c) => [{ text: c.holds ? "holds" : c.differs ? "differs" : "does not hold", className: c.holds ? "holds" : "violated" }, { text: c.text + (c.note ? " — " + c.note : ""), className: "text" },
				number(c.value), number(c.min), number(c.max)]) });
	}

	function fill(data) {
		const page = document.getElementById("page");
		/* page.html?chart=2 shows one chart alone, for pictures. */
		const only = new URLSearchParams(location.search).get("chart");
		if (only !== null) return add_charts(page, charts(data).slice(Number(only), Number(only) + 1));
		element("h1", data.title, page);
		element("p", data.command, element("p", null, page, { className: "quiet" }));
		for (const [label, text] of data.text || []) {
			const p = element("p", null, page);
			element("strong", label + " ", p);
			p.append(text);
		}
		add_claims(page, data.claims);
		element("h2", "Curves", page);
		const n = add_charts(page, charts(data));
		element("h2", "Figures", page);
		table(page, figures_table(data.runs));
		const parameters = parameter_tables(data.runs);
		element("h2", "Parameters", page);
		if (parameters.different.rows.length) table(page, parameters.different, "what differs");
		const rest = element("details", null, page);
		element("summary", "the " + parameters.equal.rows.length + " that are equal in all runs", rest);
		table(rest, parameters.equal);
		return n;
	}

	function main() {
		const root = document.documentElement;
		window.addEventListener("error", (e) => (root.dataset.error = e.message));
		const data = JSON.parse(document.getElementById("data").textContent);
		root.dataset.charts = fill(data);
		root.dataset.state = "drawn";
	}

	return { charts, config, figures_table, parameter_tables, main };
})();
if (typeof document !== "undefined") softmrc.main();
else globalThis.softmrc = softmrc;
