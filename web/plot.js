// plot.js - SVG with logarithmic axes.

import { digits } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
	const out = document.createElementNS(SVG, tag);
	for (const [name, value] of Object.entries(attributes)) {
		out.setAttribute(name, String(value));
	}
	out.append(...children);
	return out;
}

// Positions of a value between two powers of ten.
export class LogScale {
	constructor(low, high, from, to) {
		this.low = Math.floor(Math.log10(low));
		this.high = Math.max(this.low + 1, Math.ceil(Math.log10(high)));
		this.from = from;
		this.to = to;
	}

	at(v) {
		return this.from + (Math.log10(v) - this.low) / (this.high - this.low) * (this.to - this.from);
	}

	get least() {
		return 10 ** this.low;
	}

	get most() {
		return 10 ** this.high;
	}

	powers() {
		const step = Math.max(1, Math.ceil((this.high - this.low) / 8));
		const out = [];
		for (let p = this.low; p <= this.high; p += step) {
			out.push(10 ** p);
		}
		return out;
	}
}

function label(v) {
	for (const [scale, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
		if (v >= scale) {
			return digits(v / scale) + letter;
		}
	}
	return v < 0.001 ? v.toExponential(0) : String(Number(v.toPrecision(3)));
}

// The axes of a plot of `width` x `height` with room at the left and below.
export function axes(x, y, titles) {
	const group = svg("g", { class: "axes" });
	for (const v of x.powers()) {
		group.append(svg("line", { x1: x.at(v), x2: x.at(v), y1: y.from, y2: y.to }),
			svg("text", { x: x.at(v), y: y.from + 16, "text-anchor": "middle" }, label(v)));
	}
	for (const v of y.powers()) {
		group.append(svg("line", { x1: x.from, x2: x.to, y1: y.at(v), y2: y.at(v) }),
			svg("text", { x: x.from - 6, y: y.at(v) + 4, "text-anchor": "end" }, label(v)));
	}
	group.append(svg("text", { x: (x.from + x.to) / 2, y: y.from + 34, "text-anchor": "middle" },
		titles.x));
	group.append(svg("text", { x: x.from - 44, y: y.to - 8 }, titles.y));
	return group;
}
