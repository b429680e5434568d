// samples.mjs - power on the axis, energy, hotspots, the ledger.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";

import { all, launch, open, run, shot, writeTrace } from "./lib.mjs";

const browser = await launch();

function makeRun(dir) {
	mkdirSync(dir, { recursive: true });
	const rows = [];
	for (let i = 0; i < 400; i++) {
		rows.push({ name: i % 5 ? "gemm" : "fill", start: 1000000000 + i * 1000000, end: 1000700000 + i * 1000000 });
	}
	writeTrace(`${dir}/7_kernel_trace.csv`, rows);
	const power = Array.from({ length: 60 }, (_, i) => `${800000000 + i * 10000000},,${i > 20 && i < 50 ? 300 : 90},${80 + i % 7}`);
	writeFileSync(`${dir}/gpu_info_power_profiler_output.csv`,
		["timestamp_ns,time,Power(Watt) GPU0,Power(Watt) GPU1", ...power].join("\n") + "\n");
	const sample = (t, text, line, reason) => `${t},65535,1,"${text}","${line}",1,0,"X_TYPE",` +
		`"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_${reason}",4`;
	writeFileSync(`${dir}/7_pc_sampling_stochastic.csv`, ['"Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction",' +
		'"Instruction_Comment","Correlation_Id","Wave_Issued_Instruction","Instruction_Type","Stall_Reason","Wave_Count"',
	sample(1000100000, "s_waitcnt vmcnt(0)", "/src/<b>gemm.cpp:12", "WAITCNT"),
	sample(1000200000, "s_waitcnt vmcnt(0)", "/src/<b>gemm.cpp:12", "WAITCNT"),
	sample(1000300000, "<img src=x onerror=window.hacked=1>", "/src/gemm.cpp:13", "ALU_DEPENDENCY")].join("\n") + "\n");
	writeFileSync(`${dir}/run.json`, JSON.stringify({ schema: 1, state: "done", command: ["./app", "<script>"],
		exit_status: 0, tool: { name: "rocprofv3", version: "7.0" }, host: "node7", environment: { KEY: "hidden-value" },
		passes: [{ what: "trace", ran: true, status: 0, seconds: 1.5, files: 3, bytes: 4096 }],
		ledger: { asked: { traces: ["kernel"] }, delivered: { tables: { kernels: 400 } },
			dropped: { "counter SQ_X": "not on this chip" }, repaired: {}, clock_error_ns: 120, overhead: { ratio: 1.25 } },
		warnings: ["the second pass was shorter"] }));
	return dir;
}

const dir = makeRun("recorded");
const report = JSON.parse(run("report", "-q", dir, "--format", "json"));
const page = await open(browser, dir);
const text = (id) => page.textContent(`#${id}`);

const failed = await all({
	"samples are on the axis of the kernels, and widen it": async () => {
		const found = await page.evaluate(() => ({ curves: window.rockit.data.curves.map((c) => [c.metric, c.device, c.points.length]),
			groups: window.rockit.timeline.groups.length, first: window.rockit.data.curves[0].points[0][0] }));
		assert.deepEqual(found.curves.map((c) => c[2]), [60, 60]);
		assert.equal(found.groups, 1);
		assert.equal(found.first, 0);
		await page.locator("canvas").scrollIntoViewIfNeeded();
		const places = await page.evaluate(() => window.rockit.timeline.place.places.map((p) => p.y));
		const box = await (await page.$("canvas")).boundingBox();
		await page.mouse.move(box.x + box.width / 2, box.y + places.at(-1) + 20);
		await page.waitForSelector(".tip:not([hidden])");
		assert.match(await page.textContent(".tip"), /GPU 0: 300/);
		await shot(page, "samples", true);
	},
	"energy of each kernel is in the table": async () => {
		const cell = await page.$eval("#kernels tbody tr:nth-child(1) td:nth-child(4)", (c) => c.textContent);
		assert.ok(report.kernels[0].energy_j > 0);
		assert.equal(Number.parseFloat(cell).toPrecision(3), report.kernels[0].energy_j.toPrecision(3));
		assert.match(await text("summary"), /Energy of the GPUs/);
	},
	"hotspots are listed, as text": async () => {
		const rows = await page.$$eval("#hotspots details:first-of-type table:first-of-type tbody tr", (r) => r.length);
		assert.ok(rows >= report.hotspots[0].instructions.length);
		assert.match(await text("hotspots"), /s_waitcnt vmcnt\(0\)/);
		assert.match(await text("hotspots"), /WAITCNT 2/);
		assert.equal(await page.evaluate(() => window.hacked), undefined);
	},
	"the ledger says what is missing and what it cost": async () => {
		const said = await text("recording");
		for (const part of ["./app <script>", "rocprofv3 7.0", "counter SQ_X", "not on this chip", "1.250 times", "node7"]) {
			assert.ok(said.includes(part), part);
		}
		assert.match(await text("summary"), /not delivered: counter SQ_X/);
		assert.match(await text("summary"), /the second pass was shorter/);
		assert.ok(!(await page.content()).includes("hidden-value"));
	},
	"a broken run.json costs the ledger, not the page": async () => {
		makeRun("broken");
		writeFileSync("broken/run.json", '{"ledger": {"asked": ');
		const p = await open(browser, "broken");
		assert.ok(await p.evaluate(() => document.getElementById("recording").hidden));
		assert.deepEqual(p.complaints, []);
		await p.close();
	},
	"nothing complains": async () => {
		assert.deepEqual(page.complaints, []);
		assert.deepEqual(await page.evaluate(() => window.rockit.problems), []);
	},
});
await browser.close();
process.exit(failed ? 1 : 0);
