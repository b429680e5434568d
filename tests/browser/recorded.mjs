// recorded.mjs - pages of what profilers wrote: they open, and have the report's numbers.
import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";

import { all, launch, open, run } from "./lib.mjs";

const root = process.env.ROCKIT_RECORDED_DATA;
if (!root) {
	console.log("skipped: ROCKIT_RECORDED_DATA does not name a folder of recorded output");
	process.exit(77);
}
const browser = await launch();

// null: nothing a report can be made of.
function reportOf(folder) {
	try {
		return JSON.parse(run("report", "-q", folder, "--format", "json"));
	} catch {
		return null;
	}
}

async function look(folder, name) {
	const report = reportOf(folder);
	if (!report) {
		return;
	}
	const page = await open(browser, folder, { html: `${name}.html` });
	const shown = await page.evaluate(() => ({ problems: window.rockit.problems,
		kernels: window.rockit.kernels?.rows ?? [] }));
	assert.deepEqual(shown.problems, []);
	assert.deepEqual(page.complaints, []);
	assert.deepEqual(shown.kernels, report.kernels);
	await page.close();
}

// Every other folder, always the same; all of them in the full test.
const step = process.env.ROCKIT_TEST_FULL === "1" ? 1 : 2;
const folders = readdirSync(root, { withFileTypes: true }).filter((e) => e.isDirectory()).map((e) => e.name)
	.sort().filter((_, i) => i % step === 0);
const tests = Object.fromEntries(folders.map((name) => [`${name} is shown`, () => look(join(root, name), name)]));
const failed = await all(tests);
await browser.close();
process.exit(failed ? 1 : 0);
