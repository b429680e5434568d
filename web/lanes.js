// lanes.js - labels, layout and drawing of lanes.

import { collect } from "./pyramid.js";

const ROW = 13;
const LEAST = 20;
const GAP = 3;
const LOWEST = 4; // a single short kernel in a long time must stay visible

function parts(lane) {
	const out = [];
	if (lane.node !== undefined) {
		out.push(lane.node);
	}
	if (lane.rank !== undefined) {
		out.push(`rank ${lane.rank}`);
	}
	if (lane.kind !== "markers") {
		out.push(lane.device === undefined ? "GPU" : `device ${lane.device}`);
	}
	if (lane.pid !== undefined) {
		out.push(`pid ${lane.pid}`);
	}
	return out;
}

function own(lane) {
	if (lane.kind === "copies") {
		return "copies";
	}
	if (lane.kind === "markers") {
		return lane.thread === undefined ? "markers" : `markers, thread ${lane.thread}`;
	}
	const queue = lane.queue === undefined ? "" : `queue ${lane.queue}`;
	const stream = lane.stream === undefined || lane.stream === lane.queue ? "" : `stream ${lane.stream}`;
	return [queue, stream].filter(Boolean).join(" · ") || "kernels";
}

// Labels mention only what differs between lanes: {group, own}.
export function laneLabels(lanes) {
	const plain = lanes.filter((l) => !l.folded);
	const varies = (key) => new Set(plain.filter((l) => l.kind !== "markers" || key !== "device")
		.map((l) => l[key])).size > 1;
	const keys = ["node", "rank", "pid"].filter((k) => !varies(k));
	return lanes.map((lane) => {
		if (lane.folded) {
			return { group: "others", own: `${lane.kind} of all other lanes` };
		}
		const short = { ...lane };
		keys.forEach((k) => delete short[k]);
		return { group: parts(short).join(" · "), own: own(lane) };
	});
}

export function laneHeight(lane) {
	return Math.max(LEAST, Math.max(1, lane.depth) * ROW) + GAP;
}

// The position of each lane and curve: {y, height}, and the total height.
export function layout(heights, top) {
	let y = top;
	const places = heights.map((height) => {
		const place = { y, height };
		y += height;
		return place;
	});
	return { places, height: y };
}

function fill(ctx, color, alpha, x, y, w, h) {
	ctx.globalAlpha = alpha;
	ctx.fillStyle = color;
	ctx.fillRect(x, y, w, h);
}

// Columns of pixels, as high as they are busy; equal neighbours are drawn in one go.
function drawColumns(ctx, columns, y, height, colors, dim) {
	const level = (x) => columns.busy[x] > 0 ? Math.max(LOWEST, Math.round(Math.min(1, columns.busy[x]) * height)) : 0;
	for (let x = 0; x < columns.width;) {
		const h = level(x);
		const name = columns.name[x];
		let end = x + 1;
		while (end < columns.width && level(end) === h && columns.name[end] === name) {
			end++;
		}
		if (h > 0) {
			fill(ctx, colors[name], dim(name) ? 0.15 : 1, x, y + height - h, end - x, h);
		}
		x = end;
	}
	ctx.globalAlpha = 1;
}

function drawName(ctx, text, color, x, y, width, height) {
	const room = Math.floor((width - 6) / 6.2);
	if (room < 3) {
		return;
	}
	ctx.fillStyle = color;
	ctx.globalAlpha = 1;
	ctx.fillText(text.length > room ? text.slice(0, room - 1) + "…" : text, x + 3, y + height / 2);
}

// Draws one lane into ctx at y. s: {view, columns, rowsOf, colors, textColors, names, dim, picked, theme}
export function drawLane(ctx, lane, place, y, s) {
	const height = place.height - GAP;
	const each = height / Math.max(1, lane.info.depth);
	const rows = [];
	s.columns.clear();
	collect(lane, s.view, s.columns, s.rowsOf, (start, duration, name, depth) =>
		rows.push([start, duration, name, depth]));
	drawColumns(ctx, s.columns, y, height, s.colors, s.dim);
	for (const [start, duration, name, depth] of rows) {
		const x0 = Math.max(-2, s.view.x(start));
		const x1 = Math.min(s.view.width + 2, s.view.x(start + duration));
		const w = Math.max(1, x1 - x0 - (x1 - x0 > 3 ? 1 : 0));
		const at = y + depth * each;
		fill(ctx, s.colors[name], s.dim(name) ? 0.15 : 1, x0, at, w, each - 1);
		if (w > 24) {
			drawName(ctx, s.names[name], s.textColors[name], Math.max(0, x0), at, w - Math.max(0, -x0), each - 1);
		}
		if (s.picked && s.picked.start === start && s.picked.lane === lane && s.picked.depth === depth) {
			ctx.globalAlpha = 1;
			ctx.strokeStyle = s.theme.fg;
			ctx.lineWidth = 2;
			ctx.strokeRect(x0, at + 1, w, each - 3);
		}
	}
	ctx.globalAlpha = 1;
	return rows.length;
}
