/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * svg.js - a chart as SVG: softmrc_svg.chart(spec, theme, width) is the text of one, without a document,
 * so that a test draws it too, and what is on the page is what a file of it has. Times are marked by
 * bands: when a fault was there.
 */
"use strict";
const softmrc_svg = (() => {
	const HEIGHT = 320, TEXT = 12, LETTER = 6.6; /* of an average letter of the font, in units of the picture */
	const DASHES = ["", "8 4", "2 3", "10 3 2 3"];
	const TICKS_X = 7, TICKS_Y = 6;

	const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
	const place = (v) => (Math.round(v * 10) / 10).toString();

	function element(name, attributes, inside) {
		const words = Object.entries(attributes).filter(([, v]) => v !== undefined && v !== "").map(([k, v]) => " " + k + "=\"" + escaped(v) + "\"");
		return "<" + name + words.join("") + (inside === undefined ? "/>" : ">" + inside + "</" + name + ">");
	}

	const text = (x, y, what, more) => element("text", Object.assign({ x: place(x), y: place(y) }, more), escaped(what));

	/* ---- axes ---- */

	/* ticks returns round values from min to max, some n of them. */
	function ticks(min, max, n) {
		const raw = (max - min) / n, power = 10 ** Math.floor(Math.log10(raw));
		const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) || power;
		const first = Math.ceil(min / step - 1e-9), more = Math.floor(max / step + 1e-9) - first;
		/* Next to each other beyond 2^53, or too far apart for their difference: no number is between, or none can be told. */
		if (!(more >= 0 && more <= 4 * n)) return [min, max];
		return Array.from({ length: more + 1 }, (_, i) => (first + i) * step);
	}

	function log_ticks(min, max) {
		const list = [];
		for (let e = Math.floor(Math.log10(min)); 10 ** e <= max * 1.0001; e++)
			for (const m of [1, 2, 5]) if (m * 10 ** e >= min * 0.9999 && m * 10 ** e <= max * 1.0001) list.push(m * 10 ** e);
		return list;
	}

	function tick_text(v) {
		if (v !== 0 && (Math.abs(v) >= 1e7 || Math.abs(v) < 1e-4)) return v.toExponential(1).replace("e+", "e");
		return Number(v.toPrecision(6)).toLocaleString("en", { maximumSignificantDigits: 6 });
	}

	/* scale makes an axis: where a value is, from `from` to `to` of the picture, and its ticks. */
	function scale(values, axis, from, to, n) {
		let min = Math.min(...values), max = Math.max(...values);
		if (axis.log && min > 0) {
			if (min === max) [min, max] = [min / 2, max * 2];
			const span = Math.log(max / min);
			return { at: (v) => from + ((to - from) * Math.log(Math.max(v, min) / min)) / span, ticks: log_ticks(min, max), min, max };
		}
		if (axis.zero) min = Math.min(0, min);
		if (axis.max !== undefined) max = axis.max;
		if (!(max > min)) max = min + (Math.abs(min) || 1);
		const list = ticks(min, max, n);
		if (axis.zero && axis.max === undefined && list[list.length - 1] < max) {
			list.push(list[list.length - 1] + (list[1] - list[0]));
			max = list[list.length - 1];
		}
		return { at: (v) => from + ((to - from) * (v - min)) / (max - min), ticks: list, min, max };
	}

	/* ---- what is in it ---- */

	/* legend returns the names above a chart, in as many lines as they take, and how high that is. */
	function legend(series, theme, width) {
		let x = 0, y = 14, out = "";
		series.forEach((s, i) => {
			const w = 34 + s.name.length * LETTER + 14;
			if (x > 0 && x + w > width) [x, y] = [0, y + 18];
			out += element("line", { x1: place(x), x2: place(x + 26), y1: y - 4, y2: y - 4, stroke: colour(theme, i), "stroke-width": 3, "stroke-dasharray": dash(i) });
			out += text(x + 32, y, s.name, { fill: theme.text });
			x += w;
		});
		return { out, height: series.length > 0 ? y + 10 : 4 };
	}

	const colour = (theme, i) => theme.colours[i % theme.colours.length];
	/* Where colours begin again the dash is another. */
	const dash = (i) => DASHES[(Math.floor(i / 2) + Math.floor(i / 8)) % DASHES.length];

	function grid(spec, theme, x, y, box) {
		let out = "";
		for (const v of y.ticks) {
			out += element("line", { x1: box.left, x2: box.right, y1: place(y.at(v)), y2: place(y.at(v)), stroke: theme.line });
			out += text(box.left - 6, y.at(v) + 4, tick_text(v), { "text-anchor": "end", fill: theme.quiet });
		}
		for (const v of x.ticks) {
			out += element("line", { x1: place(x.at(v)), x2: place(x.at(v)), y1: box.top, y2: box.bottom, stroke: theme.line });
			out += text(x.at(v), box.bottom + 16, x.names ? x.names[v] : tick_text(v), { "text-anchor": "middle", fill: theme.quiet });
		}
		out += text((box.left + box.right) / 2, box.bottom + 34, spec.x.label || "", { "text-anchor": "middle", fill: theme.text });
		return out + element("text", { transform: "translate(12 " + place((box.top + box.bottom) / 2) + ") rotate(-90)", "text-anchor": "middle", fill: theme.text }, escaped(spec.y.label || ""));
	}

	function fault_bands(faults, theme, x, box) {
		return (faults || []).map((f) => {
			const from = Math.max(x.at(f.from), box.left), to = f.to === Infinity ? box.right : Math.min(x.at(f.to), box.right);
			if (!(to >= from)) return "";
			return element("g", { class: "fault" }, element("title", {}, escaped(f.label)) +
				element("rect", { x: place(from), y: box.top, width: place(Math.max(to - from, 1)), height: place(box.bottom - box.top), fill: theme.fault }) +
				element("line", { x1: place(from), x2: place(from), y1: box.top, y2: box.bottom, stroke: theme.fault_edge }));
		}).join("");
	}

	/* curve draws the points of one series; those of a CDF step up where a flow ends. */
	function curve(spec, s, i, theme, x, y) {
		let d = "", before = null, marks = "";
		for (const p of s.points) {
			const [px, py] = [place(x.at(p.x)), place(y.at(p.y))];
			d += before === null ? "M" + px + " " + py : spec.kind === "cdf" ? "H" + px + "V" + py : "L" + px + " " + py;
			before = p;
			if (p.marked || spec.dots) marks += element("circle", { cx: px, cy: py, r: p.marked ? 4.5 : 3.5, fill: colour(theme, i) });
		}
		return element("path", { d, fill: "none", stroke: colour(theme, i), "stroke-width": 2, "stroke-linejoin": "round", "stroke-dasharray": dash(i) }) + marks;
	}

	function bars(spec, theme, x, y, box) {
		const values = spec.series[0].points, width = ((box.right - box.left) / values.length) * 0.7;
		return values.map((v, i) => (typeof v !== "number" ? "" : element("rect", {
			x: place(x.at(i) - width / 2), width: place(width), y: place(y.at(v)), height: place(y.at(0) - y.at(v)), fill: colour(theme, i),
		}, element("title", {}, escaped(spec.labels[i] + ": " + tick_text(v)))))).join("");
	}

	/* scales returns both axes of a chart in a box. */
	function scales(spec, box) {
		if (spec.kind === "bar") {
			const n = spec.labels.length, step = (box.right - box.left) / n;
			const room = Math.max(3, Math.floor(step / LETTER) - 1);
			const names = spec.labels.map((l) => (l.length > room ? l.slice(0, room - 1) + "…" : l));
			return { x: { at: (i) => box.left + step * (i + 0.5), ticks: spec.labels.map((_, i) => i), names },
				y: scale(spec.series[0].points.filter((v) => typeof v === "number").concat(0), spec.y, box.bottom, box.top, TICKS_Y) };
		}
		const points = spec.series.flatMap((s) => s.points);
		const n = Math.max(3, Math.min(TICKS_X, Math.floor((box.right - box.left) / 70)));
		return { x: scale(points.map((p) => p.x), spec.x, box.left, box.right, n), y: scale(points.map((p) => p.y), spec.y, box.bottom, box.top, TICKS_Y) };
	}

	/* chart returns the SVG of a chart, `width` units wide. */
	function chart(spec, theme, width) {
		const names = spec.kind === "bar" ? { out: "", height: 8 } : legend(spec.series, theme, width);
		const box = { left: 64, right: width - 12, top: names.height, bottom: HEIGHT - 44 };
		const { x, y } = scales(spec, box);
		const inside = spec.kind === "bar" ? bars(spec, theme, x, y, box) : spec.series.map((s, i) => curve(spec, s, i, theme, x, y)).join("");
		return wrap(spec.title, width, HEIGHT, theme,
			names.out + grid(spec, theme, x, y, box) + fault_bands(spec.faults, theme, x, box) + inside);
	}

	/* wrap makes a picture that stands alone, ground and font included. */
	function wrap(title, width, height, theme, inside) {
		return element("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: "0 0 " + width + " " + height, width, height, role: "img", "aria-label": title,
			"font-family": "system-ui, 'Segoe UI', 'Liberation Sans', sans-serif", "font-size": TEXT },
		element("rect", { width, height, fill: theme.ground }) + inside);
	}

	return { chart, wrap, element, text, place, colour, tick_text };
})();
if (typeof document === "undefined") globalThis.softmrc_svg = softmrc_svg;
