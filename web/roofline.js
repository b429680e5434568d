// roofline.js - kernels under the ceilings of the chip.

import { kernelColor } from "./colors.js";
import { digits, duration, quantity, shortened } from "./format.js";
import { axes, LogScale, svg } from "./plot.js";
import { element } from "./table.js";

const LEVELS = ["hbm", "dram", "l2", "l1", "lds"];
const WIDTH = 760;
const HEIGHT = 420;

const best = (c) => c.achievable ?? c.measured ?? c.theory;

// The kernels that can be placed at a level: {x, y, kernel, i}.
export function roofPoints(kernels, level) {
	return kernels.map((kernel, i) => ({ kernel, i, x: kernel.roofline?.levels?.[level]?.intensity,
		y: kernel.roofline?.rate })).filter((p) => p.x > 0 && p.y > 0);
}

// The ceilings to draw: the bandwidth of the level, and the pipes that kernels are compared with.
export function roofCeilings(metrics, level) {
	const pipes = new Set(metrics.kernels.map((k) => k.roofline?.pipe).filter(Boolean));
	const usable = metrics.ceilings.filter((c) => best(c) > 0);
	const flat = usable.filter((c) => c.unit !== "GB/s" && (pipes.has(c.name) || !pipes.size));
	return { slope: usable.find((c) => c.unit === "GB/s" && c.name === level) || null,
		flat: flat.length ? flat : usable.filter((c) => c.unit !== "GB/s") };
}

function scales(points, roof) {
	const xs = points.map((p) => p.x);
	const ys = points.map((p) => p.y);
	if (roof.slope) {
		xs.push(...roof.flat.map((c) => best(c) / best(roof.slope)));
	}
	ys.push(...roof.flat.map(best));
	return [new LogScale(Math.min(...xs, 0.1), Math.max(...xs, 100), 70, WIDTH - 20),
		new LogScale(Math.min(...ys), Math.max(...ys), HEIGHT - 50, 26)];
}

function drawCeilings(x, y, roof) {
	const group = svg("g", { class: "roof" });
	const slope = roof.slope ? best(roof.slope) : null;
	for (const c of roof.flat) {
		const corner = slope ? Math.max(x.least, best(c) / slope) : x.least;
		if (corner < x.most) {
			group.append(svg("line", { x1: x.at(corner), x2: x.at(x.most), y1: y.at(best(c)), y2: y.at(best(c)) }),
				svg("text", { x: x.at(x.most) - 4, y: y.at(best(c)) - 5, "text-anchor": "end" },
					`${c.name} ${quantity(best(c) * 1e9)}FLOP/s`));
		}
	}
	if (slope) {
		const top = roof.flat.length ? Math.max(...roof.flat.map(best)) : y.most;
		const from = Math.max(x.least, y.least / slope);
		const to = Math.min(x.most, top / slope);
		if (to > from) {
			group.append(svg("line", { x1: x.at(from), x2: x.at(to), y1: y.at(from * slope), y2: y.at(to * slope) }),
				svg("text", { x: x.at(from) + 8, y: y.at(from * slope) - 12 },
					`${roof.slope.name} ${digits(slope)} GB/s`));
		}
	}
	return group;
}

function drawPoints(x, y, points) {
	const most = Math.max(...points.map((p) => p.kernel.total_ns));
	return svg("g", { class: "points" }, ...points.map((p) => svg("circle", { cx: x.at(p.x), cy: y.at(p.y),
		r: 4 + 8 * Math.sqrt(p.kernel.total_ns / most), fill: kernelColor(p.i), tabindex: "0", role: "img",
		"aria-label": describe(p) }, svg("title", {}, describe(p)))));
}

function describe(p) {
	return `${shortened(p.kernel.name, 160)}: ${digits(p.y)} GFLOP/s at ${digits(p.x)} FLOP per byte, ` +
		`${duration(p.kernel.total_ns)}, ${p.kernel.verdict}` +
		(p.kernel.roofline.uncounted ? `; not all ${p.kernel.roofline.uncounted} operations were counted` : "");
}

function drawRoof(metrics, level) {
	const points = roofPoints(metrics.kernels, level);
	const roof = roofCeilings(metrics, level);
	if (!points.length) {
		return element("p", {}, "No kernel has data for this level.");
	}
	const [x, y] = scales(points, roof);
	return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plot", role: "group",
		"aria-label": `Roofline at ${level}` },
	axes(x, y, { x: `FLOP per byte of ${level}`, y: "GFLOP/s" }),
	drawCeilings(x, y, roof), drawPoints(x, y, points));
}

// null if no kernel can be placed.
export function roofline(metrics) {
	const levels = LEVELS.filter((l) => roofPoints(metrics.kernels, l).length);
	if (!levels.length) {
		return null;
	}
	const stage = element("div", { class: "scroll" }, drawRoof(metrics, levels[0]));
	const known = metrics.ceilings.some((c) => best(c) > 0);
	const choose = element("select", { "aria-label": "Memory level",
		onchange: () => stage.replaceChildren(drawRoof(metrics, choose.value)) },
	...levels.map((l) => element("option", { value: l }, l)));
	const low = metrics.kernels.some((k) => k.roofline?.uncounted);
	return element("div", {}, element("div", { class: "tools" }, choose), stage,
		low ? element("p", { class: "note" }, "Not all operations were counted: some kernels are higher and " +
			"further to the right than drawn. Collect them with: rockit run -p roofline") : null,
		known ? null : element("p", { class: "note" }, "The peaks of this GPU are unknown, so there are no ceilings."));
}
