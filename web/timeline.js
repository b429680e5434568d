// timeline.js - the canvas: lanes and curves over one axis, with mouse, touch and keys.

import { BlockStore } from "./blocks.js";
import { canvasColors, colorsOf, kernelColor, textOn } from "./colors.js";
import { CURVE_HEIGHT, drawCurves, groupCurves, valueAt } from "./curves.js";
import { absolute, digits, duration, grouped, printable, shortened } from "./format.js";
import { drawLane, laneHeight, laneLabels, layout } from "./lanes.js";
import { buildLevels, Columns, rowAt } from "./pyramid.js";
import { element } from "./table.js";
import { tickLabel, ticks, View } from "./view.js";

const AXIS = 24;
const NAMES_KEPT = 300;

export class Timeline {
	// data: the page's timeline document; lanes: decodeChunks of its chunks; names: by number
	constructor(root, data, lanes, names) {
		this.root = root;
		this.data = data;
		this.names = names.map((n) => shortened(n, NAMES_KEPT));
		this.colors = colorsOf(data.names);
		this.textColors = this.colors.map(textOn);
		this.labels = laneLabels(data.lanes);
		this.lanes = lanes.map((lane, i) => ({ ...lane, levels: buildLevels(lane.chunks),
			info: data.lanes[i], index: i }));
		this.groups = groupCurves(data.curves);
		this.view = new View(0, data.span_ns);
		this.store = new BlockStore((id) => document.getElementById(`b${id}`)?.textContent ?? null,
			() => this.redraw());
		this.highlight = null;
		this.picked = null;
		this.frames = [];
		this.build();
		this.listen();
		this.resize();
	}

	build() {
		this.canvas = element("canvas", { tabindex: "0", role: "application",
			"aria-label": "Timeline. Arrow keys move, plus and minus zoom, 0 shows all, " +
			"brackets go from kernel to kernel.", "aria-describedby": "picked" });
		this.left = element("div", { class: "labels", "aria-hidden": "true" });
		this.box = element("div", { class: "lanes" }, this.left, element("div", { class: "stage" },
			this.canvas));
		this.tip = element("div", { class: "tip", role: "presentation", hidden: true });
		this.detail = element("div", { id: "picked", role: "status", "aria-live": "polite" },
			this.hint());
		const button = (text, label, act) => element("button", { type: "button", "aria-label": label,
			title: label, onclick: act }, text);
		this.root.append(element("div", { class: "tools" },
			button("+", "Zoom in", () => this.zoom(2)), button("−", "Zoom out", () => this.zoom(0.5)),
			button("Fit", "Show all", () => this.fit()),
			button("◀", "Previous kernel of the lane", () => this.step(-1)),
			button("▶", "Next kernel of the lane", () => this.step(1))),
		this.box, this.detail, this.tip);
		const heights = [...this.lanes.map((l) => laneHeight(l.info)),
			...this.groups.map(() => CURVE_HEIGHT)];
		this.place = layout(heights, AXIS);
		this.label();
	}

	hint() {
		return "Drag to move, Ctrl + wheel or pinch to zoom, Shift + drag to zoom into a part, " +
			"click for details.";
	}

	label() {
		let group = null;
		const texts = [...this.labels, ...this.groups.map((g) => ({ group: "samples",
			own: `${g.metric}${g.unit ? `, ${g.unit}` : ""}` }))];
		this.left.replaceChildren(...texts.map((text, i) => {
			const place = this.place.places[i];
			const out = element("div", { class: "label", title: printable(`${text.group} ${text.own}`) },
				text.group !== group ? element("b", {}, `${printable(text.group)} `) : null,
				element("span", {}, printable(text.own)));
			out.style.top = `${place.y}px`;
			out.style.height = `${place.height - 3}px`;
			group = text.group;
			return out;
		}));
		this.left.style.height = `${this.place.height}px`;
	}

	// ---- size and drawing ----

	resize() {
		const most = Math.max(160, Math.round(window.innerHeight * 0.62));
		const height = Math.min(this.place.height + 4, most);
		this.box.style.height = `${height}px`;
		const width = Math.max(50, this.canvas.parentElement.clientWidth);
		const ratio = window.devicePixelRatio || 1;
		this.canvas.style.height = `${height}px`;
		this.canvas.width = Math.round(width * ratio);
		this.canvas.height = Math.round(height * ratio);
		this.ratio = ratio;
		this.height = height;
		this.view.width = width;
		this.columns = new Columns(width);
		this.redraw();
	}

	redraw() {
		if (!this.asked) {
			this.asked = requestAnimationFrame(() => {
				this.asked = 0;
				this.draw();
			});
		}
	}

	draw() {
		const begun = performance.now();
		const ctx = this.canvas.getContext("2d");
		this.theme = canvasColors();
		ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		ctx.fillStyle = this.theme.panel;
		ctx.fillRect(0, 0, this.view.width, this.height);
		ctx.font = "11px system-ui, sans-serif";
		ctx.textBaseline = "middle";
		this.store.begin();
		this.drawGrid(ctx);
		this.drawAll(ctx);
		this.drawAxis(ctx);
		this.frames.push(performance.now() - begun);
		this.root.dataset.drawn = String(this.frames.length);
		this.root.dataset.from = String(this.view.from);
		this.root.dataset.to = String(this.view.to);
	}

	drawGrid(ctx) {
		ctx.fillStyle = this.theme.line;
		this.ticks = ticks(this.view.from, this.view.to, this.view.width);
		for (const t of this.ticks.at) {
			ctx.fillRect(Math.round(this.view.x(t)), 0, 1, this.height);
		}
	}

	drawAll(ctx) {
		const s = { view: this.view, columns: this.columns, colors: this.colors, names: this.names,
			textColors: this.textColors,
			rowsOf: (block) => this.store.get(block), picked: this.picked, theme: this.theme,
			dim: (name) => this.highlight !== null && !this.highlight.has(name) };
		const top = this.box.scrollTop;
		let rows = 0;
		this.place.places.forEach((place, i) => {
			const y = place.y - top;
			if (y + place.height < 0 || y > this.height) {
				return;
			}
			if (i < this.lanes.length) {
				rows += drawLane(ctx, this.lanes[i], place, y, s);
			} else {
				drawCurves(ctx, this.groups[i - this.lanes.length], y, this.view, kernelColor, this.theme);
			}
		});
		this.root.dataset.rows = String(rows);
	}

	drawAxis(ctx) {
		ctx.fillStyle = this.theme.panel;
		ctx.fillRect(0, 0, this.view.width, AXIS - 4);
		ctx.fillStyle = this.theme.muted;
		for (const t of this.ticks.at) {
			const x = this.view.x(t);
			ctx.fillText(tickLabel(t, this.ticks.step), Math.max(0, x) + 3, 10);
			ctx.fillRect(Math.round(x), 0, 1, AXIS - 4);
		}
		if (this.range) {
			ctx.globalAlpha = 0.25;
			ctx.fillStyle = this.theme.accent;
			ctx.fillRect(this.range[0], 0, this.range[1] - this.range[0], this.height);
			ctx.globalAlpha = 1;
		}
	}

	// ---- actions ----

	zoom(factor, x = this.view.width / 2) {
		this.view.zoom(factor, x);
		this.redraw();
	}

	pan(pixels) {
		this.view.pan(pixels);
		this.redraw();
	}

	fit() {
		this.view.fit();
		this.redraw();
	}

	mark(names) {
		this.highlight = names;
		this.redraw();
	}

	laneAt(y) {
		const at = y + this.box.scrollTop;
		return this.place.places.findIndex((p) => at >= p.y && at < p.y + p.height);
	}

	rowAt(x, y) {
		const i = this.laneAt(y);
		const lane = this.lanes[i];
		if (!lane) {
			return null;
		}
		const place = this.place.places[i];
		const each = (place.height - 3) / Math.max(1, lane.info.depth);
		const depth = Math.floor((y + this.box.scrollTop - place.y) / each);
		const slack = 2 / this.view.scale;
		const rowsOf = (block) => this.store.kept.get(block.id) || null;
		const row = rowAt(lane, this.view.time(x), depth, slack, rowsOf) ||
			rowAt(lane, this.view.time(x), -1, slack, rowsOf);
		return row && { ...row, lane };
	}

	pick(row) {
		this.picked = row;
		this.redraw();
		if (!row) {
			this.detail.replaceChildren(this.hint());
			return;
		}
		const label = this.labels[row.lane.index];
		const facts = [["Name", this.names[row.name] ?? "other names"], ["Duration", `${duration(row.duration)} (${grouped(row.duration)} ns)`],
			["Start", `${duration(row.start)} after the beginning (${absolute(this.data.origin_ns, row.start)} ns)`],
			["Lane", printable(`${label.group} ${label.own}`)]];
		this.detail.replaceChildren(element("dl", {}, ...facts.flatMap(([k, v]) =>
			[element("dt", {}, k), element("dd", {}, element("bdi", {}, v))])));
	}

	// Shows the longest call of a name.
	async jump(number) {
		const at = this.data.longest[number];
		if (!at) {
			return false;
		}
		const [index, start, length] = at;
		this.view.show(start, length);
		const place = this.place.places[index];
		this.box.scrollTop = Math.max(0, place.y - this.height / 2);
		this.redraw();
		const lane = this.lanes[index];
		const chunk = lane.chunks.start.findLastIndex((s) => s <= start);
		for (let c = Math.max(0, chunk - 1); c <= chunk; c++) {
			await this.store.load(lane.blocks[lane.chunks.block[c]]);
		}
		const row = rowAt(lane, start + length / 2, -1, 0, (b) => this.store.kept.get(b.id) || null);
		this.pick(row && { ...row, lane });
		return true;
	}

	// Moves from the picked row to its neighbour in the lane.
	async step(by) {
		if (!this.picked) {
			const first = this.data.longest.findIndex(Boolean);
			return first >= 0 && this.jump(first);
		}
		const { lane, block, i } = this.picked;
		const rows = await this.store.load(lane.blocks[block]);
		const next = i + by;
		const other = next < 0 ? block - 1 : next >= rows.n ? block + 1 : block;
		if (!lane.blocks[other]) {
			return false;
		}
		const there = await this.store.load(lane.blocks[other]);
		const at = other === block ? next : by > 0 ? 0 : there.n - 1;
		this.pick({ start: there.start[at], duration: there.duration[at], name: there.name[at],
			depth: there.depth[at], block: other, i: at, lane });
		this.reveal(there.start[at], there.duration[at]);
		return true;
	}

	reveal(start, length) {
		if (start < this.view.from || start + length > this.view.to) {
			const span = Math.max(this.view.span, length * 1.2);
			this.view.set(start + length / 2 - span / 2, start + length / 2 + span / 2);
		}
		this.redraw();
	}

	// ---- events ----

	listen() {
		window.addEventListener("resize", () => this.resize());
		this.box.addEventListener("scroll", () => this.redraw());
		this.canvas.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
		this.canvas.addEventListener("keydown", (e) => this.key(e));
		this.canvas.addEventListener("dblclick", (e) => this.zoom(4, e.offsetX));
		this.fingers = new Map();
		for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
			this.canvas.addEventListener(kind, (e) => this[kind](e));
		}
		this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
	}

	wheel(e) {
		if (e.ctrlKey || e.metaKey || e.altKey) {
			e.preventDefault();
			this.zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.002)), e.offsetX);
		} else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
			e.preventDefault();
			this.pan(e.deltaX || e.deltaY);
		}
	}

	key(e) {
		const tenth = this.view.width / 10;
		const act = { ArrowLeft: () => this.pan(-tenth), ArrowRight: () => this.pan(tenth),
			ArrowUp: () => { this.box.scrollTop -= 40; }, ArrowDown: () => { this.box.scrollTop += 40; },
			"+": () => this.zoom(1.5), "=": () => this.zoom(1.5), "-": () => this.zoom(1 / 1.5),
			0: () => this.fit(), Home: () => this.pan(-1e12), End: () => this.pan(1e12),
			"[": () => this.step(-1), "]": () => this.step(1), Escape: () => this.pick(null) }[e.key];
		if (act && !e.ctrlKey && !e.metaKey && !e.altKey) {
			e.preventDefault();
			act();
		}
	}

	pointerdown(e) {
		this.fingers.set(e.pointerId, e.offsetX);
		this.canvas.setPointerCapture(e.pointerId);
		this.moved = 0;
		this.range = e.shiftKey ? [e.offsetX, e.offsetX] : null;
	}

	pointermove(e) {
		const before = this.fingers.get(e.pointerId);
		if (before === undefined) {
			this.hover(e);
			return;
		}
		this.moved += Math.abs(e.offsetX - before);
		this.tip.hidden = true;
		if (this.range) {
			this.range[1] = e.offsetX;
			this.redraw();
		} else if (this.fingers.size === 2) {
			this.pinch(e, before);
		} else {
			this.pan(before - e.offsetX);
		}
		this.fingers.set(e.pointerId, e.offsetX);
	}

	pinch(e, before) {
		const [, other] = [...this.fingers].find(([id]) => id !== e.pointerId);
		const was = Math.abs(before - other);
		const is = Math.abs(e.offsetX - other);
		if (was > 5 && is > 5) {
			this.zoom(is / was, other);
		}
	}

	pointerup(e) {
		this.fingers.delete(e.pointerId);
		const range = this.range;
		this.range = null;
		if (range && Math.abs(range[1] - range[0]) > 4) {
			const [a, b] = range.map((x) => this.view.time(x)).sort((x, y) => x - y);
			this.view.set(a, b);
		} else if (this.moved < 4) {
			this.pick(this.rowAt(e.offsetX, e.offsetY));
		}
		this.redraw();
	}

	pointercancel(e) {
		this.fingers.delete(e.pointerId);
		this.range = null;
		this.redraw();
	}

	hover(e) {
		const text = this.say(e.offsetX, e.offsetY);
		this.tip.hidden = !text;
		if (text) {
			this.tip.textContent = text;
			this.tip.style.left = `${Math.min(e.clientX + 12, window.innerWidth - 320)}px`;
			this.tip.style.top = `${e.clientY + 14}px`;
		}
	}

	say(x, y) {
		const group = this.groups[this.laneAt(y) - this.lanes.length];
		if (group) {
			return group.curves.slice(0, 8).map((c) => {
				const v = valueAt(c.points, this.view.time(x));
				return `GPU ${c.device}: ${v === null ? "" : digits(v)} ${c.unit}`;
			}).join("\n");
		}
		const row = this.rowAt(x, y);
		return row ? `${shortened(this.names[row.name] ?? "other names", 160)}\n${duration(row.duration)}` : "";
	}
}
