/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric.js - the fabric of a result as SVG: planes, their T1s and T0s, the hosts below, and what faults
 * named. Of a large one some of each are drawn, those with faults among them, and how many there are is said.
 */
"use strict";
const softmrc_fabric = (() => {
	const PLANES = 4, SWITCHES = 6, HOSTS = 12;
	const HEIGHT = 300, T1_Y = 62, T0_Y = 150, HOST_Y = 250;
	const { element, text, place, wrap, colour } = softmrc_svg;

	/* some returns the first numbers below n, `max` at most, with those that must be among them. */
	function some(n, max, wanted) {
		const must = [...new Set(wanted)].filter((i) => i < n).slice(0, max);
		for (let i = 0; must.length < Math.min(n, max); i++) if (!must.includes(i)) must.push(i);
		return must.sort((a, b) => a - b);
	}

	/* What a fault's target names: plane0, plane0.t1-2, plane0.t0-1.u2, host3.e0, host3. */
	function part(target) {
		const found = /^(?:plane(\d+)|host(\d+))(?:\.(t[01])-(\d+))?(?:\.([a-z]+)(\d+)(?:-\d+)?)?$/.exec(target || "");
		if (!found) return null;
		const n = (i) => (found[i] === undefined ? undefined : Number(found[i]));
		return { plane: n(1), host: n(2), tier: found[3], number: n(4), port: found[5], port_number: n(6) };
	}

	/*
	 * shape returns what is to be drawn of {planes, t0s, t1s, hosts, hosts_per_t0}, and the parts that
	 * faults named; null for a fabric of three tiers, which has no room.
	 */
	function shape(fabric, faults) {
		if (!fabric || !(fabric.planes > 0) || !(fabric.t0s > 0) || !(fabric.t1s > 0) || fabric.tiers > 2) return null;
		const parts = (faults || []).map((f) => part(f.target)).filter(Boolean);
		const of = (tier) => parts.filter((p) => p.tier === tier).map((p) => p.number);
		return { fabric, parts,
			planes: some(fabric.planes, PLANES, parts.flatMap((p) => (p.plane !== undefined ? [p.plane] : p.port === "e" ? [p.port_number] : []))),
			t1: some(fabric.t1s, SWITCHES, [...of("t1"), ...parts.filter((p) => p.tier === "t0" && p.port === "u").map((p) => p.port_number)]),
			t0: some(fabric.t0s, SWITCHES, [...of("t0"), ...parts.filter((p) => p.host !== undefined).map((p) => Math.floor(p.host / fabric.hosts_per_t0))]),
			hosts: some(fabric.hosts, HOSTS, parts.filter((p) => p.host !== undefined).map((p) => p.host)) };
	}

	const is_switch_hurt = (s, plane, tier, number) => s.parts.some((p) => p.plane === plane &&
		(p.tier === undefined || (p.tier === tier && p.number === number && p.port === undefined)));
	const is_uplink_hurt = (s, plane, t0, t1) => s.parts.some((p) => p.plane === plane && p.port !== undefined &&
		((p.tier === "t0" && p.number === t0 && p.port === "u" && p.port_number === t1) ||
		(p.tier === "t1" && p.number === t1 && p.port === "d" && p.port_number === t0)));
	const is_cable_hurt = (s, plane, host) => s.parts.some((p) => (p.host === host && (p.port === undefined || p.port_number === plane)) ||
		(p.plane === plane && p.tier === "t0" && p.port === "d" && p.number * s.fabric.hosts_per_t0 + p.port_number === host));

	function node(x, y, label, fill, hurt, theme) {
		const box = element("rect", { x: place(x - 19), y: y - 11, width: 38, height: 22, rx: 4, fill });
		const cross = hurt ? element("path", { d: "M" + place(x - 19) + " " + (y - 11) + "l38 22m0 -22l-38 22", stroke: theme.fault_edge, "stroke-width": 3 }) : "";
		return element("g", hurt ? { class: "hurt" } : {}, box + text(x, y + 4, label, { "text-anchor": "middle", fill: theme.ground, "font-size": 10 }) + cross);
	}

	function line(x1, y1, x2, y2, stroke, hurt, theme) {
		return element("line", { x1: place(x1), y1, x2: place(x2), y2, stroke: hurt ? theme.fault_edge : stroke, "stroke-width": hurt ? 3 : 1,
			"stroke-dasharray": hurt ? "4 3" : "", opacity: hurt ? 1 : 0.55, class: hurt ? "hurt" : "" });
	}

	/* One plane between left and right: its switches and links, and its cables to the hosts. */
	function plane_picture(s, plane, left, right, host_x, theme) {
		const fill = colour(theme, plane), along = (list, i) => left + ((right - left) * (i + 0.5)) / list.length;
		let links = "", nodes = "";
		s.t0.forEach((t0, i) => s.t1.forEach((t1, k) => {
			links += line(along(s.t0, i), T0_Y - 11, along(s.t1, k), T1_Y + 11, fill, is_uplink_hurt(s, plane, t0, t1), theme);
		}));
		s.hosts.forEach((host, h) => {
			const i = s.t0.indexOf(Math.floor(host / s.fabric.hosts_per_t0));
			if (i >= 0) links += line(host_x(h), HOST_Y - 11, along(s.t0, i), T0_Y + 11, fill, is_cable_hurt(s, plane, host), theme);
		});
		s.t1.forEach((t1, k) => { nodes += node(along(s.t1, k), T1_Y, "T1 " + t1, fill, is_switch_hurt(s, plane, "t1", t1), theme); });
		s.t0.forEach((t0, i) => { nodes += node(along(s.t0, i), T0_Y, "T0 " + t0, fill, is_switch_hurt(s, plane, "t0", t0), theme); });
		return { links, nodes: nodes + text((left + right) / 2, 38, "plane " + plane, { "text-anchor": "middle", fill: theme.text }) };
	}

	/* draw returns the SVG of a fabric; "" where there is none to draw. */
	function draw(fabric, faults, theme) {
		const s = shape(fabric, faults);
		if (!s) return "";
		const one = Math.max(s.t0.length, s.t1.length) * 46 + 16, width = Math.max(one * s.planes.length, s.hosts.length * 46) + 24;
		const host_x = (h) => 12 + ((width - 24) * (h + 0.5)) / s.hosts.length;
		const pictures = s.planes.map((plane, i) => plane_picture(s, plane, 12 + ((width - 24) * i) / s.planes.length, 12 + ((width - 24) * (i + 1)) / s.planes.length, host_x, theme));
		const hosts = s.hosts.map((host, h) => node(host_x(h), HOST_Y, "h" + host, theme.quiet, s.parts.some((p) => p.host === host && p.port === undefined), theme)).join("");
		return wrap("the fabric", width, HEIGHT, theme, pictures.map((p) => p.links).join("") + pictures.map((p) => p.nodes).join("") + hosts);
	}

	/* caption says what is drawn and what is left out. */
	function caption(fabric, faults) {
		const s = shape(fabric, faults);
		if (!s) return "";
		const of = (list, n, what) => (list.length < n ? list.length + " of " + n.toLocaleString("en") : n) + " " + what;
		return [of(s.planes, fabric.planes, "planes"), of(s.t1, fabric.t1s, "T1s and"), of(s.t0, fabric.t0s, "T0s a plane"), of(s.hosts, fabric.hosts, "hosts")].join(", ").replace("and,", "and") +
			(s.parts.length ? "; crossed or dashed: what faults named" : "");
	}

	return { draw, caption, shape };
})();
if (typeof document === "undefined") globalThis.softmrc_fabric = softmrc_fabric;
