/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * draw.js PAGE - what a browser does with a page, without one: runs its library and its script,
 * computes its charts and has each drawn on a canvas that only counts. Prints a line for each chart:
 * title, curves, points, strokes. A curve with a value that is no number is an error.
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

function counting_canvas(count) {
	const context = new Proxy({}, {
		get(target, name) {
			if (name === "canvas") return canvas;
			if (name === "measureText") return (text) => ({ width: 6 * String(text).length });
			if (name in target) return target[name];
			return () => { if (name === "stroke" || name === "fill") count.strokes++; };
		},
		set(target, name, value) { target[name] = value; return true; },
	});
	const canvas = { width: 640, height: 320, style: {}, getContext: () => context, getAttribute: () => null, setAttribute() {} };
	return canvas;
}

const world = vm.createContext({ console, setTimeout, clearTimeout });
vm.runInContext(script("library"), world, { filename: "library" });
vm.runInContext(script("charts"), world, { filename: "charts" });
const data = JSON.parse(script("data"));
const theme = { text: "#000", quiet: "#000", line: "#000", fault: "#000", fault_edge: "#000", colours: Array(8).fill("#000") };

for (const spec of world.softmrc.charts(data)) {
	const count = { strokes: 0 };
	let points = 0;
	for (const s of spec.series)
		for (const p of s.points) {
			const values = typeof p === "number" ? [p] : [p.x, p.y];
			if (!values.every(Number.isFinite)) throw new Error(spec.title + ", " + s.name + ": " + JSON.stringify(p));
			points++;
		}
	const config = world.softmrc.config(spec, theme);
	config.options.responsive = false;
	world.canvas = counting_canvas(count);
	world.config = config;
	vm.runInContext("new Chart(canvas, config)", world);
	console.log([spec.title, spec.series.length, points, count.strokes].join("\t"));
}
world.softmrc.figures_table(data.runs);
world.softmrc.parameter_tables(data.runs);
