// pyramid.js - chunks of chunks, and which of them are drawn into which pixels.

const FANOUT = 16;

function parentOf(level, first, last, spare) {
	let end = -Infinity;
	let busy = 0;
	let best = -1;
	let name = 0;
	spare.clear();
	for (let i = first; i < last; i++) {
		end = Math.max(end, level.end[i]);
		busy += level.busy[i];
		const total = (spare.get(level.name[i]) || 0) + level.busy[i];
		spare.set(level.name[i], total);
		if (total > best) {
			best = total;
			name = level.name[i];
		}
	}
	return { start: level.start[first], end, busy, name };
}

function levelAbove(level) {
	const n = Math.ceil(level.n / FANOUT);
	const out = { n, start: new Float64Array(n), end: new Float64Array(n),
		busy: new Float64Array(n), name: new Uint32Array(n) };
	const spare = new Map();
	for (let i = 0; i < n; i++) {
		const p = parentOf(level, i * FANOUT, Math.min(level.n, (i + 1) * FANOUT), spare);
		out.start[i] = p.start;
		out.end[i] = p.end;
		out.busy[i] = p.busy;
		out.name[i] = p.name;
	}
	return out;
}

// levels[0] are the chunks themselves, the last has FANOUT members or fewer.
export function buildLevels(chunks) {
	const levels = [chunks];
	while (levels[levels.length - 1].n > FANOUT) {
		levels.push(levelAbove(levels[levels.length - 1]));
	}
	return levels;
}

// For each pixel: the share of time that was busy, and the name with the most time.
export class Columns {
	constructor(width) {
		this.width = width;
		this.busy = new Float32Array(width);
		this.most = new Float32Array(width);
		this.name = new Uint32Array(width);
	}

	clear() {
		this.busy.fill(0);
		this.most.fill(0);
	}

	add(x0, x1, share, name) {
		const last = Math.min(this.width - 1, Math.floor(x1));
		for (let x = Math.max(0, Math.floor(x0)); x <= last; x++) {
			const part = (Math.min(x + 1, x1) - Math.max(x, x0)) * share;
			this.busy[x] += part;
			if (part > this.most[x]) {
				this.most[x] = part;
				this.name[x] = name;
			}
		}
	}
}

const PIXELS = 1.5;

// Collects what `lane` ({levels, blocks}) shows in `view`. Sums go to `columns`; rows wider than a pixel go
// to `row(start, duration, name, depth)`. `rowsOf(block)` returns a decoded block, or null and requests it.
export function collect(lane, view, columns, rowsOf, row) {
	const { from, to, scale } = view;

	function sum(level, i) {
		const x0 = (level.start[i] - from) * scale;
		const x1 = (level.end[i] - from) * scale;
		const share = level.end[i] > level.start[i] ?
			level.busy[i] / (level.end[i] - level.start[i]) : 1;
		columns.add(x0, Math.max(x1, x0 + 0.05), share, level.name[i]);
	}

	function part(rows, p) {
		const parts = rows.parts;
		if (parts.end[p] < from || parts.start[p] > to) {
			return;
		}
		if ((parts.end[p] - parts.start[p]) * scale < PIXELS) {
			sum(parts, p);
			return;
		}
		const last = Math.min(rows.n, (p + 1) * parts.rows);
		for (let i = p * parts.rows; i < last; i++) {
			const x0 = (rows.start[i] - from) * scale;
			const x1 = x0 + rows.duration[i] * scale;
			if (x1 - x0 >= 1) {
				row(rows.start[i], rows.duration[i], rows.name[i], rows.depth[i]);
			} else {
				columns.add(x0, Math.max(x1, x0 + 0.05), 1, rows.name[i]);
			}
		}
	}

	function chunk(level, i) {
		const wide = (level.end[i] - level.start[i]) * scale >= PIXELS;
		const rows = wide ? rowsOf(lane.blocks[level.block[i]]) : null;
		if (!rows) {
			sum(level, i);
			return;
		}
		const first = Math.floor(level.firstRow[i] / rows.parts.rows);
		const last = Math.ceil((level.firstRow[i] + level.rows[i]) / rows.parts.rows);
		for (let p = Math.max(first, chunk.done(level.block[i])); p < last; p++) {
			part(rows, p);
		}
		chunk.drawn = { block: level.block[i], last };
	}
	// a part that two chunks share is drawn once
	chunk.drawn = { block: -1, last: 0 };
	chunk.done = (block) => chunk.drawn.block === block ? chunk.drawn.last : 0;

	function visit(depth, i) {
		const level = lane.levels[depth];
		if (level.end[i] < from || level.start[i] > to) {
			return;
		}
		if (depth === 0) {
			chunk(level, i);
		} else if ((level.end[i] - level.start[i]) * scale < 1) {
			sum(level, i);
		} else {
			const below = lane.levels[depth - 1];
			const last = Math.min(below.n, (i + 1) * FANOUT);
			for (let k = i * FANOUT; k < last; k++) {
				visit(depth - 1, k);
			}
		}
	}

	const top = lane.levels.length - 1;
	for (let i = 0; i < lane.levels[top].n; i++) {
		visit(top, i);
	}
}

// The row at a time, or null: {start, duration, name, depth, block, i}.
export function rowAt(lane, time, depth, slack, rowsOf) {
	const level = lane.levels[0];
	let best = null;
	for (let c = 0; c < level.n; c++) {
		if (level.start[c] > time + slack || level.end[c] < time - slack) {
			continue;
		}
		const rows = rowsOf(lane.blocks[level.block[c]]);
		const last = rows ? level.firstRow[c] + level.rows[c] : 0;
		for (let i = rows ? level.firstRow[c] : 0; i < last; i++) {
			const away = Math.max(rows.start[i] - time, time - rows.start[i] - rows.duration[i], 0);
			if (away <= slack && (depth < 0 || rows.depth[i] === depth) &&
			    (!best || away < best.away)) {
				best = { start: rows.start[i], duration: rows.duration[i], name: rows.name[i],
					depth: rows.depth[i], block: level.block[c], i, away };
			}
		}
	}
	return best;
}
