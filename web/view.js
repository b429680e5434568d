// view.js - the visible part of the time, in nanoseconds from the page's origin.

const LEAST_NS = 20;

export class View {
	constructor(from, to) {
		this.min = from;
		this.max = Math.max(to, from + LEAST_NS);
		this.width = 1;
		this.fit();
	}

	fit() {
		const room = (this.max - this.min) * 0.01;
		this.from = this.min - room;
		this.to = this.max + room;
	}

	get span() {
		return this.to - this.from;
	}

	get scale() {
		return this.width / this.span;
	}

	x(time) {
		return (time - this.from) * this.scale;
	}

	time(x) {
		return this.from + x / this.scale;
	}

	set(from, to) {
		const whole = (this.max - this.min) * 1.02;
		// far from 0 a double cannot hold nanoseconds; keep from and to distinct
		const least = Math.max(LEAST_NS, Math.abs(from) * 1e-13);
		const span = Math.min(Math.max(to - from, least), whole);
		const middle = (from + to) / 2;
		const low = this.min - whole / 102;
		this.from = Math.min(Math.max(middle - span / 2, low), low + whole - span);
		this.to = this.from + span;
	}

	// factor > 1 shows less time; the time at x stays at x
	zoom(factor, x) {
		const at = this.time(x);
		const span = this.span / factor;
		const from = at - x / this.width * span;
		this.set(from, from + span);
	}

	pan(pixels) {
		const by = pixels / this.scale;
		this.set(this.from + by, this.to + by);
	}

	// Shows a stretch in the middle third.
	show(start, length) {
		const span = Math.max(length * 3, LEAST_NS);
		this.set(start + length / 2 - span / 2, start + length / 2 + span / 2);
	}
}

// Ticks at 1, 2 or 5 times a power of ten, about 100 pixels apart.
export function ticks(from, to, width) {
	const raw = (to - from) / Math.max(1, width / 110);
	const power = 10 ** Math.floor(Math.log10(raw));
	const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || power * 10;
	const out = [];
	const first = Math.ceil(from / step);
	for (let i = first; i * step <= to && out.length < 100; i++) {
		out.push(i * step);
	}
	return { step, at: out };
}

// A time on the axis, with as many digits as neighbours need to differ.
export function tickLabel(t, step) {
	for (const [scale, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]) {
		if (Math.abs(t) >= scale || (t === 0 && step >= scale)) {
			const places = Math.max(0, Math.ceil(-Math.log10(step / scale) - 1e-9));
			return `${(t / scale).toFixed(Math.min(places, 12))} ${unit}`;
		}
	}
	return `${t.toFixed(step < 1 ? 1 : 0)} ns`;
}
