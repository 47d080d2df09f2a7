/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * script.js - puts what charts.js makes of the results on the page, drawn by svg.js and fabric.js; each
 * picture can be saved as a file, SVG or PNG.
 */
"use strict";
const softmrc_page = (() => {
	const COLOURS = 8, PNG_SCALE = 2, NARROWEST = 240;

	function element(name, text, parent, attributes) {
		const e = document.createElement(name);
		if (text !== undefined && text !== null) e.textContent = text;
		Object.assign(e, attributes || {});
		if (parent) parent.append(e);
		return e;
	}

	function table(parent, t) {
		const out = element("table", null, element("div", null, parent, { className: "scroll", tabIndex: 0 }));
		if (t.caption) element("caption", t.caption, out);
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
		return { ground: v("--raised"), text: v("--text"), quiet: v("--quiet"), line: v("--line"), fault: v("--fault"), fault_edge: v("--fault-edge"),
			colours: Array.from({ length: COLOURS }, (_, i) => v("--c" + i)) };
	}

	/* ---- files ---- */

	/* png draws the SVG of a picture into a PNG, a promise of its data URL. */
	function png(svg) {
		return new Promise((resolve, reject) => {
			const image = new Image();
			image.onload = () => {
				const canvas = document.createElement("canvas");
				canvas.width = image.width * PNG_SCALE;
				canvas.height = image.height * PNG_SCALE;
				canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
				resolve(canvas.toDataURL("image/png"));
			};
			image.onerror = () => reject(new Error("the picture cannot be drawn"));
			image.src = svg_url(svg);
		});
	}

	const svg_url = (svg) => "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);

	function save(url, title, ending) {
		const name = title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "chart";
		element("a", null, null, { href: url, download: name + "." + ending }).click();
	}

	/* ---- pictures ---- */

	/* add_picture adds a figure; draw(theme, width) makes its SVG, again when theme or width change. */
	function add_picture(parent, title, draw) {
		const figure = element("figure", null, parent);
		const head = element("h3", title, figure);
		const box = element("div", null, figure, { className: "picture" });
		const buttons = element("span", null, head, { className: "buttons" });
		const picture = { figure, redraw: () => { box.innerHTML = draw(theme_now(), Math.max(NARROWEST, box.clientWidth)); }, svg: () => box.innerHTML };
		element("button", "SVG", buttons, { type: "button", title: "save as SVG", onclick: () => save(svg_url(picture.svg()), title, "svg") });
		element("button", "PNG", buttons, { type: "button", title: "save as PNG", onclick: async () => save(await png(picture.svg()), title, "png") });
		return picture;
	}

	function add_charts(parent, specs) {
		const grid = element("div", null, parent, { className: "charts" });
		return specs.map((spec) => {
			const picture = add_picture(grid, spec.title, (theme, width) => softmrc_svg.chart(spec, theme, width));
			if (spec.table) table(picture.figure, spec.table);
			if ((spec.faults || []).length) element("figcaption", "Shaded: " + spec.faults.map((f) => f.label).join("; "), picture.figure);
			return picture;
		});
	}

	function add_fabric(page, data) {
		const fabric = softmrc_charts.fabric_of(data);
		const caption = fabric && softmrc_fabric.caption(fabric.shape, fabric.faults);
		if (!caption) return [];
		element("h2", "The fabric", page);
		const picture = add_picture(page, "Planes, T1s, T0s and hosts", (theme) => softmrc_fabric.draw(fabric.shape, fabric.faults, theme));
		picture.figure.classList.add("fabric");
		element("figcaption", caption, picture.figure);
		return [picture];
	}

	/* ---- the page ---- */

	function add_head(page, data) {
		element("h1", data.title, page);
		element("p", data.command, page, { className: "quiet" });
		for (const [label, text] of data.text || []) {
			const p = element("p", null, page);
			element("strong", label + " ", p);
			p.append(text);
		}
		const checks = softmrc_charts.checks(data);
		if (!checks) return;
		element("h2", "What must hold", page);
		table(page, checks);
	}

	function add_parameters(page, runs) {
		const parameters = softmrc_charts.parameter_tables(runs);
		element("h2", "Parameters", page);
		if (parameters.different.rows.length) table(page, Object.assign(parameters.different, { caption: "what differs" }));
		const rest = element("details", null, page);
		element("summary", "the " + parameters.equal.rows.length + " that are equal in all runs", rest);
		table(rest, parameters.equal);
	}

	/* fill returns the pictures of the page. */
	function fill(page, data) {
		const specs = softmrc_charts.charts(data);
		/* page.html?chart=2 shows one chart alone, for pictures. */
		const only = new URLSearchParams(location.search).get("chart");
		if (only !== null) {
			page.classList.add("alone");
			return add_charts(page, specs.slice(Number(only), Number(only) + 1));
		}
		add_head(page, data);
		const pictures = add_fabric(page, data);
		if (specs.length > 0) element("h2", "Curves", page);
		pictures.push(...add_charts(page, specs));
		softmrc_charts.tables(data).forEach((t) => {
			element("h2", t.caption, page);
			table(page, Object.assign({}, t, { caption: null }));
		});
		if (data.runs) add_parameters(page, data.runs);
		return pictures;
	}

	function main() {
		const root = document.documentElement;
		window.addEventListener("error", (e) => {
			root.dataset.error = e.message;
			element("p", "This result could not be shown: " + e.message, document.getElementById("page"), { className: "violated" });
		});
		const pictures = fill(document.getElementById("page"), JSON.parse(document.getElementById("data").textContent));
		const redraw = () => pictures.forEach((p) => p.redraw());
		let width = 0;
		redraw();
		matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
		window.addEventListener("resize", () => {
			if (width !== root.clientWidth) redraw();
			width = root.clientWidth;
		});
		root.dataset.charts = pictures.length;
		root.dataset.state = "drawn";
	}

	return { main, png };
})();
softmrc_page.main();
