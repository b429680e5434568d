// sections.js - summary, ledger, and tables of kernels, copies, calls and files.

import { bytes, duration, grouped, joules, printable } from "./format.js";
import { element, Table } from "./table.js";

// A row of kernels, copies, calls or markers.
export function callColumns(title, by) {
	const time = (name, key) => ({ title: name, number: true, value: (r) => r[key],
		show: (r) => duration(r[key]) });
	const columns = [
		{ title: "Time %", number: true, value: (r) => r.percent, show: (r) => r.percent?.toFixed(2) },
		time("Total", "total_ns"),
		{ title: "Calls", number: true, value: (r) => r.calls, show: (r) => grouped(r.calls) },
		time("Mean", "mean_ns"), time("Median", "median_ns"), time("Min", "min_ns"), time("Max", "max_ns"),
		{ title, wide: true, value: (r) => r.name }];
	if (by) {
		columns.splice(7, 0, { title: by[0].toUpperCase() + by.slice(1), number: true, value: (r) => r[by] });
	}
	return columns;
}

// The energy of each kernel from power samples, with its error.
export function energyColumn() {
	return { title: "Energy", number: true, value: (r) => r.energy_j,
		show: (r) => r.energy_j === null || r.energy_j === undefined ? "" :
			`${joules(r.energy_j)} ± ${joules(r.energy_error_j)}` };
}

export function callTable(rows, title, caption, report, options = {}) {
	const columns = callColumns(title, report.by);
	if (rows[0]?.energy_j !== undefined) {
		columns.splice(3, 0, energyColumn());
	}
	return new Table(rows, columns, { caption, ...options });
}

function card(label, value, note) {
	return element("div", { class: "card" }, element("dt", {}, label), element("dd", {}, value),
		note ? element("small", {}, note) : null);
}

// The most important numbers.
export function cards(report, timeline, metrics) {
	const out = [card("Kernels", grouped(report.kernel_rows), `${grouped(report.kernels.length)} names`),
		card("Time in kernels", duration(report.sum_duration_ns), "sum of durations")];
	if (timeline.kernel_span_ns !== undefined) {
		out.push(card("Span", duration(timeline.kernel_span_ns), "first start to last end"));
	}
	for (const d of (metrics?.trace.devices ?? []).slice(0, 8)) {
		if (d.span_ns > 0) {
			out.push(card(printable(d.name), `${(100 * d.busy_ns / d.span_ns).toFixed(1)} % busy`,
				`idle ${duration(d.idle_ns)}`));
		}
	}
	for (const [key, label] of [["copies", "Copies"], ["api", "API calls"]]) {
		const calls = report[key].reduce((n, r) => n + r.calls, 0);
		if (calls) {
			out.push(card(label, grouped(calls), duration(report[key].reduce((n, r) => n + (r.total_ns || 0), 0))));
		}
	}
	return element("dl", { class: "cards" }, ...out);
}

function textOf(v) {
	if (v === null || v === undefined) {
		return "";
	}
	return printable(Array.isArray(v) ? v.map(textOf).join(", ") :
		typeof v === "object" ? Object.entries(v).map(([k, x]) => `${k}: ${textOf(x)}`).join("; ") : v);
}

function facts(pairs) {
	return element("dl", { class: "facts" }, ...pairs.filter(([, v]) => textOf(v) !== "").flatMap(([k, v]) =>
		[element("dt", {}, printable(k)), element("dd", {}, element("bdi", {}, textOf(v)))]));
}

// How it was recorded, from run.json.
export function recording(run) {
	const passes = (run.passes ?? []).map((p, i) => [`pass ${i + 1}`, p.ran === false ? `${p.what}: did not run` :
		`${p.what}: ${p.seconds?.toFixed?.(2) ?? "?"} s, status ${p.status}${p.timed_out ? ", timed out" : ""}, ` +
		`${grouped(p.files)} files, ${bytes(p.bytes)}`]);
	return facts([["command", (run.command ?? []).join?.(" ")], ["state", run.state],
		["exit status", run.exit_status], ["tool", [run.tool?.name, run.tool?.version].filter(Boolean).join(" ")],
		["preset", run.preset], ["GPUs", (run.gpus ?? []).map((g) => `${g.name || "GPU"} ${g.gfx || ""}`)],
		["host", run.host], ["rank", run.rank], ["ranks", run.ranks], ["start", run.start_time], ["end", run.end_time], ...passes]);
}

// What was requested, delivered and dropped.
export function ledger(run) {
	const book = run.ledger ?? {};
	const overhead = book.overhead?.ratio ? `${book.overhead.ratio.toFixed(3)} times the run time without the profiler` :
		book.overhead?.estimated_seconds ? `about ${book.overhead.estimated_seconds.toFixed(3)} s, estimated` : "unknown";
	const dropped = Object.entries(book.dropped ?? {});
	const out = element("div", {}, facts([["requested", book.asked], ["delivered", book.delivered],
		...(run.ranks ? [] : [["repaired", book.repaired], ["clock error", duration(book.clock_error_ns)],
			["overhead", overhead]])]));
	if (dropped.length) {
		out.append(new Table(dropped, [{ title: "Dropped", wide: true, value: (d) => d[0] },
			{ title: "Why", prose: true, value: (d) => textOf(d[1]) }], { caption: "Requested but not delivered" }).root);
	} else {
		out.append(element("p", {}, "Everything requested was delivered."));
	}
	return out;
}

// Energy of kernels, of idle times, before the first kernel and after the last.
export function energyTable(energy) {
	const part = (title, key) => ({ title, number: true, value: (d) => d[key], show: (d) => joules(d[key]) });
	return new Table(energy.devices, [
		{ title: "Energy", wide: true, value: (d) => `${d.node ? `${d.node} ` : ""}GPU ${d.device ?? "?"}` +
			((d.kernels_device ?? null) === null ? "" : ` (device ${d.kernels_device})`) },
		part("Total", "total_j"), part("Kernels", "kernels_j"), part("±", "kernels_error_j"), part("Idle", "idle_j"),
		part("Before", "before_j"), part("After", "after_j"),
		{ title: "From", value: (d) => d.from },
		{ title: "Samples", number: true, value: (d) => d.samples, show: (d) => grouped(d.samples) }],
	{ caption: "Energy of the GPUs" });
}

// The ledger in a line.
export function ledgerLine(run) {
	const dropped = Object.keys(run.ledger?.dropped ?? {});
	const tables = Object.entries(run.ledger?.delivered?.tables ?? {}).map(([k, n]) => `${grouped(n)} ${k}`);
	return element("p", {}, `Recorded${run.ranks ? ` by ${grouped(run.ranks)} ranks` : ""}: ${printable(tables.join(", ")) || "nothing"}. `,
		dropped.length ? element("strong", {}, `Requested but not delivered: ${printable(dropped.slice(0, 8).join(", "))}` +
			`${dropped.length > 8 ? ` and ${dropped.length - 8} more` : ""}. `) : "Everything requested was delivered. ",
		element("a", { href: "#recording" }, "Ledger"));
}

export function warnings(report, run) {
	const rows = [...report.warnings.map((w) => ({ ...w, from: "reading" })),
		...(run?.warnings ?? []).map((message) => ({ kind: "recording", count: 1, message }))];
	if (!rows.length) {
		return null;
	}
	return new Table(rows, [{ title: "Warning", value: (w) => w.kind },
		{ title: "Count", number: true, value: (w) => w.count, show: (w) => grouped(w.count) },
		{ title: "What", prose: true, value: (w) => w.message },
		{ title: "File", value: (w) => w.file && w.line ? `${w.file}:${w.line}` : w.file }],
	{ caption: "Warnings" });
}

export function fileTable(files) {
	return new Table(files, [{ title: "File", wide: true, value: (f) => f.path },
		{ title: "Format", value: (f) => f.format },
		{ title: "Used", value: (f) => f.used ? "yes" : "no" },
		{ title: "Why not", prose: true, value: (f) => f.reason }], { caption: "Files" });
}

export function tableCounts(tables) {
	const rows = Object.entries(tables).filter(([, n]) => n > 0);
	return rows.length ? facts(rows.map(([k, n]) => [k, grouped(n)])) : null;
}
