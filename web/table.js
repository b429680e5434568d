// table.js - tables that sort, search and copy. Text goes in as text, never as markup.

import { printable, shortened, tsv } from "./format.js";

const PAGE = 50;
const CELL_MAX = 1000;

export function element(tag, attributes = {}, ...children) {
	const out = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (name.startsWith("on")) {
			out.addEventListener(name.slice(2), value);
		} else if (value !== null && value !== undefined && value !== false) {
			out.setAttribute(name, value === true ? "" : String(value));
		}
	}
	out.append(...children.filter((c) => c !== null && c !== undefined));
	return out;
}

export function compareCells(a, b) {
	const none = (v) => v === null || v === undefined || Number.isNaN(v);
	if (none(a) || none(b)) {
		return none(a) - none(b);
	}
	return typeof a === "number" && typeof b === "number" ? a - b :
		String(a).localeCompare(String(b), "en");
}

// Missing values stay at the end whichever way the rest is sorted.
export function sortedRows(rows, value, down) {
	const none = (v) => v === null || v === undefined || Number.isNaN(v);
	return rows.map((row, i) => ({ row, i, v: value(row) })).sort((a, b) => {
		if (none(a.v) || none(b.v)) {
			return none(a.v) - none(b.v) || a.i - b.i;
		}
		return (down ? -1 : 1) * compareCells(a.v, b.v) || a.i - b.i;
	}).map((e) => e.row);
}

// Every word must be somewhere in the text.
export function matches(text, query) {
	const lower = text.toLowerCase();
	return query.toLowerCase().split(/\s+/).every((word) => lower.includes(word));
}

export async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const area = element("textarea", { "aria-hidden": "true", class: "offscreen" });
		area.value = text;
		document.body.append(area);
		area.select();
		const done = document.execCommand("copy");
		area.remove();
		return done;
	}
}

// columns: {title, value(row), show(row), number, wide, prose, expand(row)}.
// options: {caption, search, color(row), onpick(row), onfilter(rows or null)}.
export class Table {
	constructor(rows, columns, options) {
		// on a phone names come first; scroll to see the other columns
		const narrow = matchMedia("(max-width: 700px)").matches;
		const ordered = narrow ? [...columns.filter((c) => c.wide), ...columns.filter((c) => !c.wide)] : columns;
		Object.assign(this, { rows, columns: ordered, options, by: -1, down: true, shown: PAGE, query: "" });
		this.body = element("tbody");
		this.heads = ordered.map((c, i) => this.head(c, i));
		this.table = element("table", { class: "data" },
			element("caption", {}, options.caption),
			element("thead", {}, element("tr", {}, ...this.heads)), this.body);
		this.status = element("p", { class: "status", role: "status" });
		this.more = element("button", { type: "button", onclick: () => this.showMore() });
		this.root = element("div", { class: "tablebox" }, this.tools(),
			element("div", { class: "scroll", tabindex: "0", role: "region",
				"aria-label": options.caption }, this.table), this.status, this.more);
		this.update();
	}

	head(column, i) {
		const button = element("button", { type: "button", class: "sort", onclick: () => this.sort(i) },
			column.title);
		return element("th", { scope: "col", "aria-sort": "none",
			class: column.number ? "number" : null }, button);
	}

	tools() {
		const copy = element("button", { type: "button", onclick: () => this.copy(copy) }, "Copy as TSV");
		const parts = [copy];
		if (this.options.search) {
			this.input = element("input", { type: "search", id: this.options.search,
				placeholder: "Search  ( / )", "aria-label": `Search ${this.options.caption}`,
				autocomplete: "off", spellcheck: "false", oninput: () => this.search(this.input.value) });
			parts.unshift(this.input);
		}
		return element("div", { class: "tools" }, ...parts);
	}

	async copy(button) {
		const header = this.columns.map((c) => c.title);
		const rows = this.visible.map((r) => this.columns.map((c) => c.value(r)));
		const done = await copyText(tsv(header, rows));
		button.textContent = done ? `Copied ${rows.length} rows` : "Could not copy";
		setTimeout(() => { button.textContent = "Copy as TSV"; }, 2000);
	}

	sort(i) {
		this.down = this.by === i ? !this.down : Boolean(this.columns[i].number);
		this.by = i;
		this.update();
	}

	search(query) {
		this.query = query.trim();
		this.shown = PAGE;
		this.update();
		this.options.onfilter?.(this.query ? this.visible : null);
	}

	showMore() {
		this.shown *= 4;
		this.update();
	}

	cell(column, row) {
		const text = column.show ? column.show(row) : column.value(row);
		const out = element(column.wide ? "th" : "td", column.wide ? { scope: "row", class: "name" } :
			{ class: column.number ? "number" : column.prose ? "prose" : null });
		if (column.expand) {
			out.append(this.expander(column, row, String(text)));
		} else if (column.wide) {
			out.append(this.nameOf(row, String(text)));
		} else {
			out.textContent = text === null || text === undefined ? "" : shortened(text, CELL_MAX);
		}
		return out;
	}

	// A button that shows more of its row below it.
	expander(column, row, text) {
		const button = element("button", { type: "button", class: "expand", "aria-expanded": "false",
			onclick: () => {
				const here = button.closest("tr");
				const open = button.getAttribute("aria-expanded") === "true";
				button.setAttribute("aria-expanded", String(!open));
				if (open) {
					here.nextSibling.remove();
				} else {
					here.after(element("tr", { class: "more" }, element("td",
						{ colspan: this.columns.length }, column.expand(row))));
				}
			} }, shortened(text, CELL_MAX));
		return button;
	}

	nameOf(row, text) {
		const label = shortened(text, CELL_MAX) || "(no name)";
		const bdi = element("bdi", {}, label);
		const color = this.options.color?.(row);
		const swatch = color ? element("span", { class: "swatch", "aria-hidden": "true" }) : null;
		if (swatch) {
			swatch.style.background = color;
		}
		if (!this.options.onpick) {
			return element("span", { class: "clip", title: shortened(text, 2000) }, swatch, bdi);
		}
		return element("button", { type: "button", class: "clip pick", title: shortened(text, 2000),
			onclick: () => this.options.onpick(row) }, swatch, bdi);
	}

	update() {
		const text = (row) => this.columns.filter((c) => !c.number).map((c) =>
			printable(c.value(row) ?? "")).join(" ");
		let rows = this.query ? this.rows.filter((r) => matches(text(r), this.query)) : this.rows;
		if (this.by >= 0) {
			rows = sortedRows(rows, this.columns[this.by].value, this.down);
		}
		this.visible = rows;
		this.heads.forEach((h, i) => h.setAttribute("aria-sort",
			i !== this.by ? "none" : this.down ? "descending" : "ascending"));
		this.body.replaceChildren(...rows.slice(0, this.shown).map((row) =>
			element("tr", {}, ...this.columns.map((c) => this.cell(c, row)))));
		this.say(rows.length);
	}

	say(found) {
		const seen = Math.min(found, this.shown);
		this.status.textContent = this.query ?
			`${found} of ${this.rows.length} match` + (seen < found ? `, ${seen} shown` : "") :
			seen < found ? `${seen} of ${found} shown` : "";
		this.more.hidden = seen === found;
		this.more.textContent = `Show more (${found - seen} left)`;
	}
}
