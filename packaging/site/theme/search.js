/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * search.js - finds the sections that have all words that were typed. The index is a script of its own,
 * loaded when the field is first used: pages that come from a disk may not fetch anything else.
 */
"use strict";
const site_search = (() => {
	const SHOWN = 20, AROUND = 70;
	let docs = null;

	/* rank says how well a section fits: titles count most; 0 where a word is missing. */
	function rank(title, text, words) {
		let sum = 0;
		for (const word of words) {
			const in_title = title.includes(word), in_text = text.split(word).length - 1;
			if (!in_title && in_text === 0) return 0;
			sum += (in_title ? 20 : 0) + Math.min(in_text, 5);
		}
		return sum;
	}

	function find(query) {
		const words = query.toLowerCase().split(/\s+/).filter(Boolean);
		if (words.length === 0 || docs === null) return [];
		return docs.map(([location, title, text]) => ({ location, title, text, rank: rank(title.toLowerCase(), text.toLowerCase(), words) }))
			.filter((d) => d.rank > 0).sort((a, b) => b.rank - a.rank).slice(0, SHOWN)
			.map((d) => {
				const at = Math.max(0, d.text.toLowerCase().indexOf(words[0]) - AROUND);
				return { location: d.location, title: d.title, text: (at > 0 ? "… " : "") + d.text.slice(at, at + 3 * AROUND) };
			});
	}

	function plain(html) {
		return new DOMParser().parseFromString(html, "text/html").body.textContent;
	}

	function show(box, base, query) {
		box.replaceChildren();
		box.hidden = query.trim() === "";
		const found = find(query);
		if (found.length === 0) box.textContent = docs === null ? "loading" : "nothing has all of these words";
		for (const d of found) {
			const p = document.createElement("p"), a = document.createElement("a"), small = document.createElement("small");
			a.href = base + "/" + d.location;
			a.textContent = plain(d.title);
			small.textContent = plain(d.text);
			p.append(a, small);
			box.append(p);
		}
	}

	function main() {
		const field = document.getElementById("search"), box = document.getElementById("found");
		const base = document.body.dataset.base || ".";
		field.form.addEventListener("submit", (e) => {
			e.preventDefault();
			const first = box.querySelector("a");
			if (first) first.click();
		});
		field.addEventListener("focus", () => {
			if (document.getElementById("index")) return;
			const script = document.createElement("script");
			script.id = "index";
			script.src = base + "/search/index.js";
			script.addEventListener("load", () => show(box, base, field.value));
			document.head.append(script);
		});
		field.addEventListener("input", () => show(box, base, field.value));
		document.addEventListener("keydown", (e) => {
			if (e.key === "/" && document.activeElement === document.body) {
				e.preventDefault();
				field.focus();
			}
			if (e.key === "Escape") {
				field.value = "";
				show(box, base, "");
			}
		});
		box.addEventListener("click", (e) => {
			if (e.target.closest("a")) box.hidden = true;
		});
	}

	document.addEventListener("DOMContentLoaded", main);
	return { index(list) { docs = list; }, find };
})();
