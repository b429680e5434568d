// report.js - builds the page.

import { fromBase85, decodeChunks, inflate } from "./codec.js";
import { applyTheme, kernelColor, nextTheme } from "./colors.js";
import { grouped, printable } from "./format.js";
import { hotspots } from "./hotspots.js";
import { allMetrics, counterTable, deviceTable, verdictTable } from "./metrics.js";
import { ranksSection } from "./ranks.js";
import { roofline } from "./roofline.js";
import { callTable, cards, energyTable, fileTable, ledger, ledgerLine, recording, tableCounts, warnings } from "./sections.js";
import { element } from "./table.js";
import { Timeline } from "./timeline.js";

function read(id) {
	const at = document.getElementById(id);
	return at ? JSON.parse(at.textContent) : null;
}

const page = { problems: [] };

// Hides an empty section. If one fails, it shows the error and the other sections still work.
function section(id, fill) {
	const root = document.getElementById(id);
	try {
		const parts = [fill(root)].flat().filter(Boolean);
		root.append(...parts);
		root.hidden = !parts.length;
	} catch (error) {
		page.problems.push(`${id}: ${error.message}`);
		root.append(element("p", { class: "problem" }, `Cannot show this section: ${error.message}`));
		root.hidden = false;
	}
	if (root.hidden) {
		document.querySelector(`nav a[href="#${id}"]`)?.parentElement.remove();
	}
}

// Names by number, as the timeline uses them.
function namesOf(report, names) {
	const out = new Array(names.count + 1).fill("(other names)");
	for (const kind of ["kernels", "copies", "markers"]) {
		names[kind].forEach((number, i) => { out[number] = report[kind][i].name; });
	}
	return out;
}

async function startTimeline(report, data) {
	const root = document.getElementById("timeline");
	if (!data.lanes.length && !data.curves.length) {
		root.append(element("p", {}, report.stats_of ?
			"No timeline: these are statistics without single kernels." :
			"No timeline: no kernel, copy or marker has times."));
		return null;
	}
	const chunks = await inflate(fromBase85(document.getElementById("chunks").textContent));
	const lanes = decodeChunks(chunks, data.lanes.length);
	page.timeline = new Timeline(root, data, lanes, namesOf(report, data.names));
	root.append(...notes(data));
	root.dataset.ready = "yes";
	return page.timeline;
}

function notes(data) {
	const out = [];
	const say = (text) => out.push(element("p", { class: "note" }, text));
	if (data.folded_rows) {
		say(`${grouped(data.folded_rows)} rows of further queues, streams or threads share one lane.`);
	}
	if (data.left_out_ranks) {
		say(`${grouped(data.left_out_ranks)} ranks are not in the timeline. It shows those in trouble, those that ` +
			"compute longest and shortest, and those that others wait for.");
	}
	if (data.left_out_rows) {
		say(`${grouped(data.left_out_rows)} rows have times that cannot be shown.`);
	}
	if (data.span_ns > Number.MAX_SAFE_INTEGER) {
		say("The run spans more than 104 days, so times are rounded.");
	}
	const other = data.curves.filter((c) => c.points.every(([start, span]) => start > data.span_ns || start + span < 0));
	if (other.length) {
		say(`${other.length} curves do not overlap with the kernels (another time or another clock): ` +
			[...new Set(other.map((c) => printable(c.metric)))].join(", "));
	}
	return out;
}

function kernelSection(report, data) {
	const number = new Map(report.kernels.map((row, i) => [row, data.names.kernels[i]]));
	if (!report.kernels.length) {
		return element("p", {}, "This run has no kernels.");
	}
	page.kernels = callTable(report.kernels, "Kernel", "Kernels", report, {
		search: "search",
		color: (row) => kernelColor(number.get(row)),
		onpick: (row) => jump(number.get(row)),
		onfilter: (rows) => page.timeline?.mark(rows && new Set(rows.map((r) => number.get(r)))),
	});
	return page.kernels.root;
}

async function jump(number) {
	if (await page.timeline?.jump(number)) {
		document.getElementById("timeline").scrollIntoView({ block: "nearest" });
	}
}

function summarySection(report, data, metrics, run) {
	return [cards(report, data, metrics), run && ledgerLine(run), warnings(report, run)?.root,
		metrics?.trace.devices.length ? deviceTable(metrics.trace.devices).root : null,
		report.energy?.devices.length ? energyTable(report.energy).root : null];
}

function recordingSection(run) {
	return run && [recording(run), element("h3", {}, run.ranks ? "Ledger of all ranks" : "Ledger"), ledger(run)];
}

function metricsSection(metrics, report) {
	const counters = report.counters.length ? counterTable(report.counters).root : null;
	const byName = new Map(page.data.names.kernels.map((n, i) => [report.kernels[i].name, n]));
	if (!metrics?.kernels.length) {
		return counters;
	}
	const judged = metrics.kernels.filter((k) => k.verdict !== "unusable");
	const table = judged.length ? verdictTable(judged, (k) => jump(byName.get(k.name))).root : null;
	return [table, unjudged(metrics.kernels, judged), allMetrics(metrics)?.root, counters];
}

function unjudged(all, judged) {
	const rest = all.filter((k) => !judged.includes(k));
	const advice = rest.find((k) => k.collect)?.collect;
	return rest.length ? element("p", { class: "note" }, `Unknown for ${grouped(rest.length)} ` +
		`${rest.length === 1 ? "kernel" : "kernels"} (${printable(rest[0].reason)}). `,
	advice ? element("code", {}, printable(advice)) : "") : null;
}

function plainTable(rows, title, caption, report) {
	return rows.length ? callTable(rows, title, caption, report).root : null;
}

function keys() {
	document.addEventListener("keydown", (e) => {
		const typing = /^(input|textarea|select)$/i.test(e.target.tagName);
		const search = document.getElementById("search");
		if (e.key === "/" && !typing && search) {
			e.preventDefault();
			search.focus();
		} else if (e.key === "Escape" && e.target === search) {
			search.value = "";
			page.kernels.search("");
			search.blur();
		}
	});
}

function themeButton() {
	const button = document.getElementById("theme");
	let theme = "auto";
	button.addEventListener("click", () => {
		theme = nextTheme(theme);
		applyTheme(theme);
		button.textContent = `Theme: ${theme}`;
		page.timeline?.redraw();
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => page.timeline?.redraw());
	const paint = (now) => {
		applyTheme(now);
		page.timeline?.draw();
	};
	window.addEventListener("beforeprint", () => paint("light"));
	window.addEventListener("afterprint", () => paint(theme));
}

function start() {
	const report = read("report");
	const data = read("timeline-data");
	const metrics = read("metrics-data");
	const run = read("run");
	page.data = data;
	section("summary", () => summarySection(report, data, metrics, run));
	section("ranks", () => ranksSection(report.ranks));
	section("kernels", () => kernelSection(report, data));
	startTimeline(report, data).catch((error) => {
		page.problems.push(`timeline: ${error.message}`);
		document.getElementById("timeline").append(element("p", { class: "problem" },
			`Cannot show the timeline: ${error.message}`));
	});
	section("roofline", () => metrics && roofline(metrics));
	section("metrics", () => metricsSection(metrics, report));
	section("hotspots", () => hotspots(report.hotspots));
	section("copies", () => plainTable(report.copies, "Direction", "Copies", report));
	section("api", () => [plainTable(report.api, "Function", "API calls", report),
		plainTable(report.memory, "Operation", "Memory operations", report),
		plainTable(report.libraries || [], "Call", "Library calls", report),
		plainTable(report.domains, "Domain", "Domains", report)]);
	section("markers", () => plainTable(report.markers, "Marker", "Markers", report));
	section("recording", () => recordingSection(run));
	section("files", () => [tableCounts(report.tables), fileTable(report.files).root]);
	keys();
	themeButton();
	window.rockit = page;
}

start();
