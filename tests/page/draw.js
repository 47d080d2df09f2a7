/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * draw.js PAGE - what a browser does with a page, without one: runs its scripts but the last, which wants
 * a document, and draws all charts and the fabric as SVG. Prints a line for each picture: title, curves,
 * points, and its SVG. A curve with a value that is no number is an error.
 */
"use strict";
const fs = require("fs");
const vm = require("vm");

const html = fs.readFileSync(process.argv[2], "utf8");

function script(id) {
	const found = html.match(new RegExp("<script[^>]*id=\"" + id + "\"[^>]*>([\\s\\S]*?)</script>"));
	if (!found) throw new Error("the page has no script " + id);
	return found[1];
}

const world = vm.createContext({ console });
for (const id of ["svg", "fabric", "charts"]) vm.runInContext(script(id), world, { filename: id });
const { softmrc_svg: svg, softmrc_fabric: fabric, softmrc_charts: charts } = world;
const data = JSON.parse(script("data"));
const theme = { ground: "#fff", text: "#000", quiet: "#000", line: "#000", fault: "#f00", fault_edge: "#f00", colours: Array(8).fill("#000") };

for (const spec of charts.charts(data)) {
	let points = 0;
	for (const s of spec.series)
		for (const p of s.points) {
			const values = typeof p === "number" ? [p] : [p.x, p.y];
			if (!values.every(Number.isFinite)) throw new Error(spec.title + ", " + s.name + ": " + JSON.stringify(p));
			points++;
		}
	console.log([spec.title, spec.series.length, points, svg.chart(spec, theme, 640)].join("\t"));
}
const around = charts.fabric_of(data);
if (around) console.log(["fabric", 0, 0, fabric.draw(around.shape, around.faults, theme)].join("\t"));
/* More curves than colours, as figure 16 has. */
const nine = { title: "", kind: "line", x: {}, y: {}, series: Array.from({ length: 9 }, (_, i) => ({ name: "n", points: [{ x: 0, y: i }, { x: 1, y: i }] })) };
const looks = svg.chart(nine, Object.assign({}, theme, { colours: [..."01234567"] }), 640).match(/<path [^>]*>/g).map((p) => p.replace(/ d="[^"]*"/, ""));
if (new Set(looks).size !== 9) throw new Error("curves that look alike: " + looks.join(" "));
/* Axes of numbers next to each other beyond 2^53, or very small: drawn, and none for ever. */
for (const [low, high] of [[2 ** 53, 2 ** 53 + 2], [1e300, 1.0000000000000002e300], [0, 5e-324]])
	for (const zero of [false, true]) {
		const far = { title: "", kind: "line", x: { zero }, y: { zero }, series: [{ name: "n", points: [{ x: low, y: high }, { x: high, y: low }] }] };
		if (/NaN|Infinity/.test(svg.chart(far, theme, 640))) throw new Error("an axis from " + low + " to " + high);
	}
charts.checks(data);
const made = (data.demo || data.lab || data.runs[0].result).version;
if (!charts.tables(data).some((t) => t.rows.some((row) => row.includes(made)))) throw new Error("no table has the release that made the result, " + made);
for (const t of charts.tables(data))
	for (const row of t.rows) if (row.length !== t.head.length) throw new Error(t.caption + ": " + JSON.stringify(row));
