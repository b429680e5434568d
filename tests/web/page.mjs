// page.mjs - what the C code packs, the page's own modules unpack: each row as convert writes it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import test from "node:test";
import { createInflateRaw } from "node:zlib";

import { decodeBlock, decodeChunks, fromBase85, inflate, Reader, signed } from "../../web/codec.js";

// Browsers have it; Node.js 18 does not know this format.
try {
	new DecompressionStream("deflate-raw");
} catch {
	globalThis.DecompressionStream = class {
		constructor() {
			return Duplex.toWeb(createInflateRaw());
		}
	};
}

const { ROCKIT, GEN_TRACE } = process.env;
const without = ROCKIT && GEN_TRACE ? false : "needs ROCKIT and GEN_TRACE";

function element(html, id) {
	const begin = html.indexOf(`id="${id}">`);
	return html.slice(begin + id.length + 6, html.indexOf("</script>", begin));
}

// All rows of the page: "lane start duration name".
async function rowsOf(html) {
	const report = JSON.parse(element(html, "report"));
	const data = JSON.parse(element(html, "timeline-data"));
	const lanes = decodeChunks(await inflate(fromBase85(element(html, "chunks"))), data.lanes.length);
	const names = new Map(data.names.kernels.map((n, i) => [n, report.kernels[i].name]));
	const out = [];
	for (const [i, lane] of lanes.entries()) {
		const { device, queue } = data.lanes[i];
		for (const block of lane.blocks) {
			const rows = decodeBlock(await inflate(fromBase85(element(html, `b${block.id}`))), block.start);
			assert.equal(rows.n, block.rows);
			for (let k = 0; k < rows.n; k++) {
				const start = BigInt(data.origin_ns) + BigInt(rows.start[k]);
				out.push(`${device} ${queue} ${start} ${rows.duration[k]} ${names.get(rows.name[k])}`);
			}
		}
	}
	return out;
}

function wanted(jsonl) {
	return jsonl.trim().split("\n").map((line) => {
		const r = JSON.parse(line.replace(/"start_ns":(\d+)/, '"start_ns":"$1"'));
		return `${r.device_id} ${r.queue_id} ${r.start_ns} ${r.duration_ns} ${r.kernel_name}`;
	});
}

test("every kernel is in the page, to the nanosecond", { skip: without }, async () => {
	const dir = mkdtempSync(join(tmpdir(), "rockit-page-"));
	const at = (name) => join(dir, name);
	execFileSync(GEN_TRACE, ["--rows", "30000", "--seed", "3", "-o", at("t.csv")]);
	execFileSync(ROCKIT, ["report", "-q", at("t.csv"), "--html", at("t.html")]);
	execFileSync(ROCKIT, ["convert", "-q", at("t.csv"), "-o", at("t.jsonl")]);
	const rows = await rowsOf(readFileSync(at("t.html"), "utf8"));
	assert.equal(rows.length, 30000);
	assert.deepEqual(rows.sort(), wanted(readFileSync(at("t.jsonl"), "utf8")).sort());
	rmSync(dir, { recursive: true });
});

test("data that ends too early is refused, not read past", () => {
	assert.throws(() => new Reader(new Uint8Array([2, 1, 1])).column(2), RangeError);
	assert.throws(() => decodeBlock(new Uint8Array(3), 0), RangeError);
	assert.throws(() => decodeChunks(new Uint8Array([255, 255, 255, 255, 0, 0, 0, 0, 9]), 1), RangeError);
});

test("text of base 85 that is damaged is refused", () => {
	assert.deepEqual([...fromBase85("")], []);
	assert.throws(() => fromBase85("abc<d"), RangeError);
	assert.equal(fromBase85("!!!!!!!").length, 5);
});

test("signed numbers", () => {
	assert.deepEqual([0, 1, 2, 3].map(signed), [0, -1, 1, -2]);
});
