// metrics.js - what limits each kernel, and the numbers behind it.

import { digits, duration, grouped, printable, quantity } from "./format.js";
import { element, Table } from "./table.js";

function metricTable(rows, caption) {
	const value = (key) => ({ title: { avg: "Mean", weighted: "Weighted by time", percent_of_peak: "% of peak" }[key] ||
		key[0].toUpperCase() + key.slice(1), number: true, value: (r) => r[key], show: (r) => quantity(r[key]) });
	return new Table(rows, [{ title: "Metric", value: (r) => r.id, wide: true },
		{ title: "Group", value: (r) => r.group }, value("avg"), value("weighted"), value("min"), value("max"),
		{ title: "Unit", value: (r) => r.unit }, value("peak"), value("percent_of_peak")], { caption });
}

function detailOf(kernel) {
	return element("div", {}, element("p", {}, printable(kernel.reason)),
		kernel.collect ? element("p", {}, "Next: ", element("code", {}, printable(kernel.collect))) : null,
		kernel.metrics.length ? metricTable(kernel.metrics, "Metrics of this kernel").root : null);
}

export function verdictTable(kernels, onpick) {
	return new Table(kernels, [
		{ title: "Time %", number: true, value: (k) => k.percent, show: (k) => k.percent?.toFixed(2) },
		{ title: "Total", number: true, value: (k) => k.total_ns, show: (k) => duration(k.total_ns) },
		{ title: "Calls", number: true, value: (k) => k.calls, show: (k) => grouped(k.calls) },
		{ title: "Limited by", value: (k) => k.verdict, expand: detailOf },
		{ title: "Why", prose: true, value: (k) => k.reason },
		{ title: "Kernel", wide: true, value: (k) => k.name }],
	{ caption: "What limits the kernels", onpick });
}

export function allMetrics(metrics) {
	return metrics.metrics.length ? metricTable(metrics.metrics, "Metrics over all kernels") : null;
}

export function deviceTable(devices) {
	const time = (title, key) => ({ title, number: true, value: (d) => d[key], show: (d) => duration(d[key]) });
	return new Table(devices, [{ title: "Device", wide: true, value: (d) => d.name },
		{ title: "Busy %", number: true, value: (d) => d.span_ns ? 100 * d.busy_ns / d.span_ns : null,
			show: (d) => d.span_ns ? (100 * d.busy_ns / d.span_ns).toFixed(1) : "" },
		time("Span", "span_ns"), time("Busy", "busy_ns"), time("Idle", "idle_ns"), time("Copies", "copy_ns"),
		time("Overlap", "overlap_ns"),
		{ title: "Gaps", number: true, value: (d) => d.gaps, show: (d) => grouped(d.gaps) },
		time("Longest gap", "longest_gap_ns"), time("Launch gaps", "launch_gap_ns"),
		time("Median launch gap", "median_launch_gap_ns")], { caption: "Device time" });
}

export function counterTable(counters) {
	const value = (title, key) => ({ title, number: true, value: (c) => c[key],
		show: (c) => c[key] === null ? "" : digits(c[key]) });
	return new Table(counters, [{ title: "Counter", wide: true, value: (c) => c.name },
		{ title: "Rows", number: true, value: (c) => c.rows, show: (c) => grouped(c.rows) },
		value("Sum", "sum"), value("Min", "min"), value("Max", "max")], { caption: "Hardware counters" });
}
