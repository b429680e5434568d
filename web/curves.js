// curves.js - samples on the axis of the timeline: the band from min to max, and the mean.

import { digits } from "./format.js";

export const CURVE_HEIGHT = 46;

// Curves of one metric and unit share a lane: [{metric, unit, curves}].
export function groupCurves(curves) {
	const out = new Map();
	for (const curve of curves) {
		const key = `${curve.metric}\u0000${curve.unit}`;
		if (!out.has(key)) {
			out.set(key, { metric: curve.metric, unit: curve.unit, curves: [] });
		}
		out.get(key).curves.push(curve);
	}
	return [...out.values()].map((g) => ({ ...g, ...rangeOf(g.curves) }));
}

export function rangeOf(curves) {
	let low = Infinity;
	let high = -Infinity;
	for (const curve of curves) {
		for (const [, , min, max] of curve.points) {
			low = Math.min(low, min);
			high = Math.max(high, max);
		}
	}
	// start at zero unless that would flatten the curve
	low = low > 0 && low < high * 0.9 ? 0 : low;
	return { low, high: high > low ? high : low + 1 };
}

// The index of the first point that ends at or after `time`.
export function firstPoint(points, time) {
	let low = 0;
	let high = points.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (points[middle][0] + points[middle][1] < time) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

export function valueAt(points, time) {
	const i = firstPoint(points, time);
	const p = points[Math.min(i, points.length - 1)];
	const before = points[Math.max(0, i - 1)];
	return !p ? null : Math.abs(time - before[0] - before[1]) < Math.abs(p[0] - time) ? before[4] : p[4];
}

function drawCurve(ctx, points, view, yOf, color) {
	const first = Math.max(0, firstPoint(points, view.from) - 1);
	ctx.strokeStyle = color;
	ctx.fillStyle = color;
	ctx.lineWidth = 1.3;
	ctx.beginPath();
	for (let i = first; i < points.length; i++) {
		const [start, span, min, max, mean] = points[i];
		const x0 = view.x(start);
		const x1 = view.x(start + span);
		if (max > min) {
			ctx.globalAlpha = 0.25;
			ctx.fillRect(x0 - 1, yOf(max), Math.max(2, x1 - x0 + 2), Math.max(1, yOf(min) - yOf(max)));
			ctx.globalAlpha = 1;
		}
		ctx.lineTo((x0 + x1) / 2, yOf(mean));
		if (x0 > view.width) {
			break;
		}
	}
	ctx.stroke();
}

export function drawCurves(ctx, group, y, view, colors, theme) {
	const height = CURVE_HEIGHT - 8;
	const yOf = (v) => y + 4 + (group.high - v) / (group.high - group.low) * (height - 4);
	ctx.fillStyle = theme.line;
	ctx.fillRect(0, y + height + 2, view.width, 1);
	group.curves.forEach((curve, i) => drawCurve(ctx, curve.points, view, yOf, colors(i)));
	ctx.fillStyle = theme.muted;
	ctx.fillText(`${digits(group.high)} ${group.unit}`, 4, y + 8);
	ctx.fillText(digits(group.low), 4, y + height - 4);
}
