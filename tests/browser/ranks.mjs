// ranks.mjs - a job of several ranks on the page: the bars, the tables, and names that attack.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";

import { all, launch, open, run, shot, writeTrace } from "./lib.mjs";

const browser = await launch();
const attack = "</script><img src=x onerror=window.hacked=1>";
const MS = 1e6;

function rankOf(rank) {
	const slow = rank === 2;
	return { rank, local_rank: rank % 4, node: rank < 4 ? "node-a" : attack, tool: "rocprofv3", tool_version: "1.1",
		state: rank === 7 ? "stopped" : "done", status: rank === 7 ? 137 : 0, kernels: 1000, kernel_ns: 100 * MS,
		first_ns: 5 * MS, last_ns: 125 * MS, compute_ns: rank === 6 ? null : slow ? 90 * MS : 60 * MS,
		comm_ns: rank === 6 ? null : 50 * MS, both_ns: rank === 6 ? null : 10 * MS,
		idle_ns: rank === 6 ? null : slow ? 0 : 20 * MS, collectives: 100, last: slow ? 93 : 1, wait_ns: 28 * MS,
		caused_ns: slow ? 190 * MS : MS, clock: rank < 4 ? "same" : rank === 5 ? "alone" : "aligned",
		offset_ns: rank === 5 ? null : -3e9, drift_ppm: 1, error_ns: rank === 5 ? null : 812, clock_by: "collectives",
		clock_note: rank === 5 ? attack : null };
}

const job = (n) => ({ size: 10, nodes: 2, job: "4711", imbalance: 0.4, intra_ns: 1, inter_ns: 2, reference: 0,
	base_ns: 5 * MS, summary: ["not balanced: rank 2", attack], ranks: Array.from({ length: n }, (_, i) => rankOf(i)),
	collectives: [{ name: attack, calls: 100, unmatched: 3, ranks: 8, inter_node: true, total_ns: 50 * MS,
		late_ns: 40 * MS, wire_ns: 10 * MS, wait_ns: 197 * MS, wire_median_ns: 99000, wire_max_ns: null, straggler: 2,
		straggler_calls: 93, error_ns: 812, verdict: "late" }],
	spreads: [{ name: attack, ranks: 8, min_ns: 50 * MS, min_rank: 0, max_ns: 80 * MS, max_rank: 2, mean_ns: 54 * MS,
		imbalance: 0.481 }],
	copies: [{ node: attack, direction: "MEMORY_COPY_HOST_TO_DEVICE", src: null, dst: 1, calls: 1200, bytes: null,
		time_ns: 7000, gb_per_s: null }],
	problems: [{ kind: "missing", rank: 8, count: 2, message: `2 of 10 ranks are missing: ${attack}` }] });

// A page whose report says that it is of such a job.
async function pageOf(name, ranks) {
	const html = `${name}.html`;
	run("report", "-q", writeTrace(`${name}.csv`, [{ name: "gemm", start: 1, end: 9 }]), "--html", html);
	const page = readFileSync(html, "utf8");
	const begin = page.indexOf('id="report">') + 'id="report">'.length;
	const end = page.indexOf("</script>", begin);
	const report = { ...JSON.parse(page.slice(begin, end)), ranks };
	writeFileSync(html, page.slice(0, begin) + JSON.stringify(report).replaceAll("<", "\\u003c") + page.slice(end));
	return open(browser, `${name}.csv`, { html, made: true });
}

async function quiet(page) {
	assert.deepEqual(page.complaints, []);
	assert.deepEqual(page.requests.filter((u) => !u.startsWith("file:")), []);
	assert.deepEqual(await page.evaluate(() => window.rockit.problems), []);
	assert.equal(await page.evaluate(() => window.hacked), undefined);
	assert.equal(await page.$$eval("img", (e) => e.length), 0);
}

const failed = await all({
	"ranks have bars and tables, and names that attack are text": async () => {
		const page = await pageOf("job", job(8));
		const text = await page.textContent("#ranks");
		for (const part of ["8 of 10 ranks on 2 nodes, job 4711", "not balanced: rank 2", "stopped, exit 137",
			"not alignable", "-3.000 s ± 812 ns", "2 (93 %)", attack]) {
			assert.ok(text.includes(part), part);
		}
		const widths = await page.$$eval("#ranks svg g:nth-of-type(3) rect", (r) => r.map((e) => Number(e.getAttribute("width"))));
		assert.deepEqual(widths.map((w) => Math.round(w / 690 * 130)), [80, 10, 40, 0]);
		assert.equal(await page.$$eval("#ranks svg rect", (r) => r.length), 7 * 4);
		assert.match(await page.textContent("#ranks svg g:nth-of-type(3) title"), /rank 2 on node-a: computes 61\.5 %/);
		const rows = await page.$$eval("#ranks .tablebox:nth-of-type(1) tbody tr", (r) => r.length);
		assert.ok(rows > 0);
		await quiet(page);
		await shot(page, "ranks", true);
		await page.close();
	},
	"a thousand ranks fit": async () => {
		const page = await pageOf("many", job(1024));
		const box = await (await page.$("#ranks svg")).boundingBox();
		assert.ok(box.height < 1500, `${box.height}`);
		assert.equal(await page.$$eval("#ranks svg rect", (r) => r.length), 1023 * 4);
		await quiet(page);
		await shot(page, "ranks-many", true);
		await page.close();
	},
	"a run of one rank has no such section": async () => {
		const page = await open(browser, "job.csv", { html: "one.html" });
		assert.ok(await page.evaluate(() => document.getElementById("ranks").hidden));
		assert.equal(await page.$$eval('nav a[href="#ranks"]', (a) => a.length), 0);
		await page.close();
	},
});
await browser.close();
process.exit(failed ? 1 : 0);
