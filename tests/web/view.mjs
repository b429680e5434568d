// view.mjs - zoom, pan, the axis, and what is drawn into which pixel.
import assert from "node:assert/strict";
import test from "node:test";

import { groupCurves, firstPoint, valueAt } from "../../web/curves.js";
import { colorsOf, kernelColor, mixed, nextTheme, textOn } from "../../web/colors.js";
import { laneLabels, layout } from "../../web/lanes.js";
import { buildLevels, collect, Columns, rowAt } from "../../web/pyramid.js";
import { LogScale } from "../../web/plot.js";
import { matches, sortedRows } from "../../web/table.js";
import { tickLabel, ticks, View } from "../../web/view.js";

test("zoom keeps the time under the pointer", () => {
	const v = new View(0, 1e9);
	v.width = 1000;
	const t = v.time(250);
	v.zoom(8, 250);
	assert.ok(Math.abs(v.time(250) - t) < 1);
	v.zoom(1e12, 250);
	assert.ok(v.span >= 20);
	v.zoom(1e-12, 250);
	assert.ok(v.from <= 0 && v.to >= 1e9 && v.span <= 1.03e9);
});

test("pan ends where the run does", () => {
	const v = new View(0, 1e6);
	v.width = 100;
	v.zoom(10, 50);
	const span = v.span;
	v.pan(-1e9);
	assert.ok(v.from <= 0 && Math.abs(v.span - span) < 1);
	v.pan(1e9);
	assert.ok(v.to >= 1e6 && Math.abs(v.span - span) < 1);
});

test("a view of years still has a width", () => {
	const v = new View(0, 2 ** 60);
	v.width = 1000;
	for (let i = 0; i < 60; i++) {
		v.zoom(3, 900);
	}
	assert.ok(v.to > v.from && Number.isFinite(v.scale));
});

test("ticks are round, inside, and not too many", () => {
	const t = ticks(123, 9876, 800);
	assert.ok(t.at.length > 3 && t.at.length < 12);
	assert.ok(t.at.every((x) => x >= 123 && x <= 9876 && x % t.step === 0));
	assert.equal(tickLabel(1500000, 100000), "1.5 ms");
	assert.equal(tickLabel(29249750000, 50000), "29.24975 s");
});

function laneOf(rows, each) {
	const chunks = { n: 0, start: [], end: [], busy: [], name: [], rows: [], block: [], firstRow: [] };
	for (let i = 0; i < rows.n; i += each) {
		const last = Math.min(rows.n, i + each) - 1;
		chunks.n++;
		chunks.start.push(rows.start[i]);
		chunks.end.push(rows.start[last] + rows.duration[last]);
		chunks.busy.push(rows.duration.slice(i, last + 1).reduce((a, b) => a + b, 0));
		chunks.name.push(rows.name[i]);
		chunks.rows.push(last + 1 - i);
		chunks.block.push(0);
		chunks.firstRow.push(i);
	}
	return { levels: buildLevels(chunks), blocks: [{ id: 0 }] };
}

function manyRows(n) {
	return { n, start: Array.from({ length: n }, (_, i) => i * 100), duration: new Array(n).fill(50),
		name: Array.from({ length: n }, (_, i) => i % 3), depth: new Array(n).fill(0),
		parts: { rows: 16, start: Array.from({ length: Math.ceil(n / 16) }, (_, i) => i * 1600),
			end: Array.from({ length: Math.ceil(n / 16) }, (_, i) => Math.min(n, i * 16 + 16) * 100 - 50),
			busy: new Array(Math.ceil(n / 16)).fill(800), name: new Array(Math.ceil(n / 16)).fill(0) } };
}

test("a lane from afar is half busy everywhere, without a block", () => {
	const rows = manyRows(100000);
	const lane = laneOf(rows, 128);
	const v = new View(0, 1e7);
	v.width = 500;
	const columns = new Columns(500);
	collect(lane, v, columns, () => assert.fail("no block is needed"), () => assert.fail("no row"));
	const inside = columns.busy.slice(10, 490);
	assert.ok(inside.every((b) => b > 0.45 && b < 0.55), `${Math.min(...inside)} ${Math.max(...inside)}`);
});

test("close up the rows themselves are drawn, each once", () => {
	const rows = manyRows(1000);
	const lane = laneOf(rows, 50); // not a multiple of 16: parts are in two chunks
	const v = new View(0, 100000);
	v.width = 1000;
	v.set(20000, 30000);
	const columns = new Columns(1000);
	const seen = [];
	collect(lane, v, columns, () => rows, (start) => seen.push(start));
	assert.equal(new Set(seen).size, seen.length);
	assert.ok([20000, 25000, 29900].every((t) => seen.includes(t)));
});

test("until a block is there its chunk is drawn, and the block asked for", () => {
	const lane = laneOf(manyRows(1000), 50);
	const v = new View(0, 100000);
	v.width = 1000;
	let asked = 0;
	const columns = new Columns(1000);
	collect(lane, v, columns, () => { asked++; return null; }, () => assert.fail("no rows yet"));
	assert.ok(asked > 0 && columns.busy[500] > 0.4);
});

test("the row under the pointer is found", () => {
	const rows = manyRows(1000);
	const lane = laneOf(rows, 128);
	assert.equal(rowAt(lane, 5025, -1, 0, () => rows).i, 50);
	assert.equal(rowAt(lane, 5075, -1, 0, () => rows), null);
	assert.equal(rowAt(lane, 5055, -1, 10, () => rows).i, 50);
	assert.equal(rowAt(lane, 5025, 3, 0, () => rows), null);
});

test("labels say what differs", () => {
	const lanes = [{ kind: "kernels", device: 0, pid: 7, queue: 1, stream: 1 },
		{ kind: "kernels", device: 1, pid: 7, queue: 2, stream: 5 }, { kind: "copies", device: 1 },
		{ kind: "kernels", folded: true }];
	const labels = laneLabels(lanes).map((l) => `${l.group}/${l.own}`);
	assert.deepEqual(labels, ["device 0 · pid 7/queue 1", "device 1 · pid 7/queue 2 · stream 5", "device 1/copies",
		"others/kernels of all other lanes"]);
	assert.deepEqual(layout([10, 20], 5), { places: [{ y: 5, height: 10 }, { y: 15, height: 20 }], height: 35 });
});

test("curves of one metric share a lane, and values are found by time", () => {
	const points = [[0, 10, 1, 3, 2], [20, 10, 5, 9, 7]];
	const [group] = groupCurves([{ metric: "power", unit: "W", points }, { metric: "power", unit: "W", points }]);
	assert.equal(group.curves.length, 2);
	assert.equal(group.low, 0);
	assert.equal(group.high, 9);
	assert.equal(firstPoint(points, 15), 1);
	assert.equal(valueAt(points, 5), 2);
	assert.equal(valueAt(points, 1000), 7);
	assert.equal(valueAt([], 5), null);
});

test("tables sort numbers as numbers and keep what is missing at the end", () => {
	const rows = [{ v: 2 }, { v: null }, { v: 10 }, { v: 1 }];
	assert.deepEqual(sortedRows(rows, (r) => r.v, true).map((r) => r.v), [10, 2, 1, null]);
	assert.deepEqual(sortedRows(rows, (r) => r.v, false).map((r) => r.v), [1, 2, 10, null]);
	assert.ok(matches("void Gemm<float>(int*)", "gemm FLOAT"));
	assert.ok(!matches("void gemm", "gemm half"));
});

test("neighbours in the table differ in colour, and text can be read on it", () => {
	const first = Array.from({ length: 21 }, (_, i) => kernelColor(i));
	assert.equal(new Set(first).size, 21);
	const split = colorsOf({ kernels: [0, 1, 0], copies: [2], markers: [], count: 3 });
	assert.deepEqual(split.slice(0, 2), [kernelColor(0), kernelColor(1)]);
	assert.equal(split.length, 4);
	assert.equal(mixed("#000000", 0.5), "#808080");
	assert.equal(textOn("#ffffff"), "#000000");
	assert.equal(textOn("#003355"), "#ffffff");
	assert.deepEqual(["auto", "light", "dark"].map(nextTheme), ["light", "dark", "auto"]);
});

test("a logarithmic axis has powers of ten", () => {
	const s = new LogScale(0.3, 450, 0, 100);
	assert.deepEqual(s.powers(), [0.1, 1, 10, 100, 1000]);
	assert.equal(s.at(0.1), 0);
	assert.equal(s.at(1000), 100);
});
