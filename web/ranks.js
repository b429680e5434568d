// ranks.js - a job of several ranks: who computes, who waits, and for whom.

import { bytes, digits, duration, grouped, printable } from "./format.js";
import { svg } from "./plot.js";
import { element, Table } from "./table.js";

const CHART_WIDTH = 760;
const CHART_LABEL = 70;
const CHART_BAR = 14;
const CHART_MAX = 900;

// From the palette of Okabe and Ito, like the kernels.
const RANK_PARTS = [["compute", "computes", "#0072b2"], ["both", "computes and communicates", "#56b4e9"],
	["comm", "only communicates", "#d55e00"], ["idle", "idle", "#8a8f98"]];

// The parts of a rank's time, in ns; null if unknown.
export function rankShares(r) {
	if (r.compute_ns === null) {
		return null;
	}
	// not last_ns - first_ns: these are too large for a double
	const span = r.compute_ns + r.comm_ns - r.both_ns + r.idle_ns;
	return span > 0 ? { compute: r.compute_ns - r.both_ns, both: r.both_ns, comm: r.comm_ns - r.both_ns,
		idle: r.idle_ns, span } : null;
}

function describeRank(r, shares) {
	const part = ([key, what]) => `${what} ${(100 * shares[key] / shares.span).toFixed(1)} %`;
	return `rank ${r.rank}${r.node ? ` on ${printable(r.node)}` : ""}: ` + RANK_PARTS.map(part).join(", ");
}

function rankBar(r, y, height) {
	const shares = rankShares(r);
	const group = svg("g", {});
	if (!shares) {
		return group;
	}
	let x = CHART_LABEL;
	for (const [key, , fill] of RANK_PARTS) {
		const width = (CHART_WIDTH - CHART_LABEL) * shares[key] / shares.span;
		group.append(svg("rect", { x, y, width, height, fill, class: key }));
		x += width;
	}
	group.append(svg("title", {}, describeRank(r, shares)));
	return group;
}

// A bar for each rank, thinner the more there are.
export function rankChart(ranks) {
	const step = Math.max(1, Math.min(CHART_BAR + 4, CHART_MAX / ranks.length));
	const every = Math.max(1, Math.ceil(16 / step));
	const out = svg("svg", { viewBox: `0 0 ${CHART_WIDTH} ${Math.ceil(step * ranks.length)}`, class: "plot", role: "img",
		"aria-label": "Time of each rank: computing, communicating, idle. The table below has the numbers." });
	ranks.forEach((r, i) => {
		out.append(rankBar(r, i * step, step > 4 ? step - 4 : step));
		if (i % every === 0) {
			out.append(svg("text", { x: CHART_LABEL - 8, y: i * step + Math.min(step, 16) - 4, "text-anchor": "end" },
				`rank ${r.rank}`));
		}
	});
	return out;
}

function rankLegend() {
	const one = ([, what, fill]) => {
		const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
		swatch.style.background = fill;
		return element("span", { class: "key" }, swatch, what);
	};
	return element("p", { class: "note legend" }, ...RANK_PARTS.map(one));
}

const percentOf = (part, whole) => part === null || !(whole > 0) ? null : 100 * part / whole;
const timeColumn = (title, key) => ({ title, number: true, value: (r) => r[key], show: (r) => duration(r[key]) });
const countColumn = (title, key) => ({ title, number: true, value: (r) => r[key], show: (r) => grouped(r[key]) });
const shareColumn = (title, value) => ({ title, number: true, value, show: (r) => value(r)?.toFixed(1) ?? "" });

function rankClock(r) {
	return r.clock === "same" ? "" : r.clock === "alone" ? `not alignable: ${r.clock_note ?? ""}` :
		`${duration(r.offset_ns)} ± ${duration(r.error_ns)}`;
}

function rankState(r) {
	return [r.kernels ? null : "no kernels", r.state === "done" ? null : r.state,
		r.status > 0 ? `exit ${r.status}` : null].filter(Boolean).join(", ");
}

function rankTable(ranks) {
	return new Table(ranks, [{ title: "Rank", number: true, value: (r) => r.rank },
		{ title: "Node", value: (r) => r.node }, countColumn("Kernels", "kernels"), timeColumn("Compute", "compute_ns"),
		timeColumn("Communication", "comm_ns"), shareColumn("Hidden %", (r) => percentOf(r.both_ns, r.comm_ns)),
		shareColumn("Idle %", (r) => percentOf(r.idle_ns, rankShares(r)?.span)), timeColumn("Waits", "wait_ns"),
		timeColumn("Caused", "caused_ns"), countColumn("Last", "last"),
		{ title: "Clock", value: rankClock }, { title: "State", value: rankState }], { caption: "Ranks" });
}

function stragglerOf(c) {
	return c.straggler === null || !c.calls ? "" :
		`${c.straggler} (${(100 * c.straggler_calls / c.calls).toFixed(0)} %)`;
}

function collectiveTable(rows) {
	return new Table(rows, [{ title: "Cause", value: (c) => c.verdict }, countColumn("Calls", "calls"),
		countColumn("Not matched", "unmatched"), countColumn("Ranks", "ranks"),
		{ title: "Over", value: (c) => c.inter_node ? "nodes" : "node" }, timeColumn("Total", "total_ns"),
		shareColumn("Late %", (c) => percentOf(c.late_ns, c.total_ns)), timeColumn("Waits", "wait_ns"),
		timeColumn("Wire, median", "wire_median_ns"), timeColumn("Wire, max", "wire_max_ns"),
		{ title: "Straggler", value: stragglerOf }, { title: "Operation", wide: true, value: (c) => c.name }],
	{ caption: "Collectives: waiting for the last rank (late) or network time (wire)" });
}

function spreadTable(rows) {
	return new Table(rows, [shareColumn("Imbalance %", (s) => 100 * s.imbalance),
		{ title: "Above the mean", number: true, value: (s) => s.max_ns - s.mean_ns,
			show: (s) => duration(s.max_ns - s.mean_ns) },
		timeColumn("Mean", "mean_ns"), timeColumn("Max", "max_ns"), countColumn("Rank", "max_rank"), timeColumn("Min", "min_ns"),
		countColumn("Rank", "min_rank"), countColumn("Ranks", "ranks"), { title: "Kernel", wide: true, value: (s) => s.name }],
	{ caption: "Kernels whose time differs between ranks" });
}

function copyTable(rows) {
	const place = (title, key) => ({ title, number: true, value: (c) => c[key], show: (c) => c[key] ?? (/HOST/.test(c.direction) ? "host" : "") });
	return new Table(rows, [{ title: "Node", value: (c) => c.node }, place("From", "src"), place("To", "dst"),
		countColumn("Calls", "calls"), { title: "Bytes", number: true, value: (c) => c.bytes,
			show: (c) => c.bytes === null ? "" : bytes(c.bytes) }, timeColumn("Time", "time_ns"),
		{ title: "GB/s", number: true, value: (c) => c.gb_per_s, show: (c) => c.gb_per_s === null ? "" : digits(c.gb_per_s) },
		{ title: "Direction", value: (c) => c.direction }], { caption: "Copies by device" });
}

function problemTable(rows) {
	return new Table(rows, [{ title: "Problem", value: (p) => p.kind }, { title: "What", prose: true,
		value: (p) => p.message }], { caption: "Problems" });
}

const tableOf = (make, rows) => rows.length ? make(rows).root : null;

// null if the run has less than two ranks.
export function ranksSection(job) {
	if (!job) {
		return null;
	}
	const known = job.ranks.filter(rankShares);
	return [element("p", {}, `${grouped(job.ranks.length)}${job.size && job.size !== job.ranks.length ?
		` of ${grouped(job.size)}` : ""} ranks${job.nodes ? ` on ${grouped(job.nodes)} ${job.nodes === 1 ? "node" : "nodes"}` : ""}` +
		`${job.job ? `, job ${printable(job.job)}` : ""}.`),
	tableOf(problemTable, job.problems),
	job.summary.length ? element("ul", {}, ...job.summary.map((s) => element("li", {}, printable(s)))) : null,
	known.length ? rankLegend() : null, known.length ? element("div", { class: "scroll" }, rankChart(known)) : null,
	tableOf(rankTable, job.ranks), tableOf(collectiveTable, job.collectives), tableOf(spreadTable, job.spreads),
	tableOf(copyTable, job.copies)];
}
