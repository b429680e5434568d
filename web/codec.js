// codec.js - decodes the blocks and chunks of rows that rockit packs into the page.

const GUESSES = 4096;
const SUB_ROWS = 16;

const DIGITS = new Uint8Array(128).fill(255);
[...Array(94).keys()].map((i) => String.fromCharCode(33 + i)).filter((c) => !"\"&'-<=>\\`".includes(c))
	.forEach((c, i) => { DIGITS[c.charCodeAt(0)] = i; });

// Five digits of base 85 are four bytes; n < 5 digits at the end are n - 1 bytes.
export function fromBase85(text) {
	const whole = Math.floor(text.length / 5);
	const rest = text.length % 5;
	const out = new Uint8Array(whole * 4 + Math.max(0, rest - 1));
	for (let group = 0, at = 0; at < text.length; group++, at += 5) {
		let v = 0;
		for (let i = 0; i < 5; i++) {
			const digit = at + i < text.length ? DIGITS[text.charCodeAt(at + i) & 127] : 84;
			if (digit === 255) {
				throw new RangeError("the page data is damaged");
			}
			v = v * 85 + digit;
		}
		for (let i = 0; i < 4 && group * 4 + i < out.length; i++) {
			out[group * 4 + i] = v >>> (24 - 8 * i);
		}
	}
	return out;
}

export async function inflate(packed) {
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class Reader {
	constructor(data) {
		this.data = data;
		this.at = 0;
	}

	take(n) {
		if (n < 0 || n > this.data.length - this.at) {
			throw new RangeError("the page data is truncated");
		}
		this.at += n;
		return this.at - n;
	}

	number(n) {
		const at = this.take(n);
		let v = 0;
		for (let i = n - 1; i >= 0; i--) {
			v = v * 256 + this.data[at + i];
		}
		return v;
	}

	// n values, each the sum of its planes.
	column(n) {
		const planes = this.number(1);
		const out = new Float64Array(n);
		let scale = 1;
		for (let p = 0; p < planes; p++, scale *= 256) {
			const at = this.take(n);
			for (let i = 0; i < n; i++) {
				out[i] += this.data[at + i] * scale;
			}
		}
		return out;
	}
}

// 0, 1, 2, 3 are 0, -1, 1, -2
export function signed(v) {
	return v % 2 ? -(v + 1) / 2 : v / 2;
}

function decodeDurations(reader, n, names, tick) {
	const coded = reader.column(n);
	return () => {
		const guess = new Float64Array(GUESSES);
		const out = new Float64Array(n);
		for (let i = 0; i < n; i++) {
			const slot = names[i] % GUESSES;
			const before = guess[slot];
			const d = before + signed(coded[i]);
			out[i] = d * tick;
			guess[slot] = before ? before + Math.floor((d - before) / 4) : d;
		}
		return out;
	};
}

// The rows of a block whose first row begins at `start`.
export function decodeBlock(data, start) {
	const reader = new Reader(data);
	const n = reader.number(4);
	const gapTick = reader.number(8);
	const durationTick = reader.number(8);
	const gaps = reader.column(n);
	const names = new Uint32Array(n);
	const durations = decodeDurations(reader, n, names, durationTick);
	names.set(reader.column(n));
	const depth = Uint8Array.from(reader.column(n));
	const rows = { n, start: new Float64Array(n), duration: durations(), name: names, depth };
	let end = start;
	for (let i = 0; i < n; i++) {
		rows.start[i] = end + signed(gaps[i]) * gapTick;
		end = rows.start[i] + rows.duration[i];
	}
	rows.parts = sumUp(rows);
	return rows;
}

// Sums of a few rows each, drawn when a row is smaller than a pixel.
function sumUp(rows) {
	const n = Math.ceil(rows.n / SUB_ROWS);
	const parts = { rows: SUB_ROWS, start: new Float64Array(n), end: new Float64Array(n),
		busy: new Float64Array(n), name: new Uint32Array(n) };
	for (let p = 0; p < n; p++) {
		const last = Math.min(rows.n, (p + 1) * SUB_ROWS);
		let end = rows.start[p * SUB_ROWS];
		let longest = -1;
		parts.start[p] = end;
		for (let i = p * SUB_ROWS; i < last; i++) {
			const stop = rows.start[i] + rows.duration[i];
			parts.busy[p] += Math.max(0, stop - Math.max(end, rows.start[i]));
			end = Math.max(end, stop);
			if (rows.duration[i] > longest) {
				longest = rows.duration[i];
				parts.name[p] = rows.name[i];
			}
		}
		parts.end[p] = end;
	}
	return parts;
}

function decodeLane(reader) {
	const n = reader.number(4);
	const nblocks = reader.number(4);
	const starts = reader.column(n);
	const spans = reader.column(n);
	const rows = reader.column(n);
	const busy = reader.column(n);
	const name = Uint32Array.from(reader.column(n));
	const last = reader.column(n);
	const numbers = reader.column(nblocks);
	const chunks = { n, start: starts, end: spans, busy, name, rows, block: new Uint32Array(n),
		firstRow: new Uint32Array(n) };
	const blocks = [];
	for (let i = 0, at = 0, row = 0, first = 0; i < n; i++) {
		at += starts[i];
		starts[i] = at;
		busy[i] = spans[i] * busy[i] / 255;
		spans[i] += at;
		chunks.block[i] = blocks.length;
		chunks.firstRow[i] = row;
		row += rows[i];
		if (last[i]) {
			blocks.push({ id: numbers[blocks.length], start: starts[first], rows: row });
			row = 0;
			first = i + 1;
		}
	}
	return { chunks, blocks };
}

// The chunks of each lane, and the block that has the rows of each chunk.
export function decodeChunks(data, lanes) {
	const reader = new Reader(data);
	return Array.from({ length: lanes }, () => decodeLane(reader));
}
