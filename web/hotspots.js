// hotspots.js - the instructions, lines and stall reasons of each kernel.

import { grouped, printable } from "./format.js";
import { element, Table } from "./table.js";

const TOP = 500;

const weightOf = (spot) => spot.samples ?? spot.cycles;

export function stallText(stalls) {
	return Object.entries(stalls ?? {}).sort((a, b) => b[1] - a[1]).slice(0, 4)
		.map(([reason, n]) => `${reason} ${grouped(n)}`).join(", ");
}

function spotColumns(from, first) {
	const unit = from === "thread_trace" ? "Cycles" : "Samples";
	const columns = [{ title: "%", number: true, value: (s) => s.percent, show: (s) => s.percent?.toFixed(2) },
		{ title: unit, number: true, value: weightOf, show: (s) => grouped(weightOf(s)) },
		{ title: "Stalled", number: true, value: (s) => s.stalled, show: (s) => grouped(s.stalled) }];
	if (from === "thread_trace") {
		columns.push({ title: "Hits", number: true, value: (s) => s.hits, show: (s) => grouped(s.hits) },
			{ title: "Idle", number: true, value: (s) => s.idle, show: (s) => grouped(s.idle) });
	} else {
		columns.push({ title: "Waits for", prose: true, value: (s) => stallText(s.stalls) });
	}
	if (first === "instruction") {
		columns.push({ title: "Instruction", wide: true, value: (s) => s.instruction ?? "" });
	}
	columns.push({ title: "Source", wide: first === "source", prose: true, value: (s) => s.source ?? "" });
	return columns;
}

function spots(kernel, rows, first, caption) {
	return rows?.length ? new Table(rows.slice(0, TOP), spotColumns(kernel.from, first),
		{ caption: rows.length > TOP ? `${caption}: the first ${TOP} of ${grouped(rows.length)}` : caption }).root : null;
}

function kernelSpots(kernel, open) {
	const name = kernel.kernel === null ? "unknown kernel" : printable(kernel.kernel);
	const unit = kernel.from === "thread_trace" ? "cycles" : "samples";
	const box = element("details", {}, element("summary", {}, element("bdi", {}, name.slice(0, 400)),
		` - ${kernel.percent?.toFixed(1) ?? ""} %, ${grouped(weightOf(kernel))} ${unit}, ${grouped(kernel.stalled)} stalled`));
	const fill = () => {
		if (box.open && box.children.length === 1) {
			const lines = spots(kernel, kernel.lines, "source", "Source lines");
			const instructions = spots(kernel, kernel.instructions, "instruction", "Instructions");
			box.append(...[instructions, lines].filter(Boolean));
		}
	};
	box.addEventListener("toggle", fill);
	box.open = open;
	fill();
	return box;
}

// Tables are built when a kernel is opened: it can have thousands of instructions.
export function hotspots(kernels) {
	return kernels?.length ? kernels.slice(0, TOP).map((k, i) => kernelSpots(k, i === 0)) : null;
}
