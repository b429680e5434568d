// report.mjs - the page in a browser: numbers, zoom, search, keys, themes, print, phone.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { all, data, launch, open, rockit, run, shot } from "./lib.mjs";

const browser = await launch();
execFileSync(process.env.GEN_TRACE, ["--rows", "60000", "--seed", "5", "--dir", "trace", "--api"]);
const report = JSON.parse(run("report", "-q", "trace", "--format", "json"));
const page = await open(browser, "trace");

async function cells(id) {
	return page.$$eval(`#${id} tbody tr`, (rows) => rows.map((r) => [...r.children].map((c) => c.textContent)));
}

const grouped = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");

// No frame is asked for any more. How long one takes is the machine's affair.
async function settled() {
	let before;
	for (let now = await data(page); now.drawn !== before; now = await data(page)) {
		before = now.drawn;
		await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
		await page.waitForTimeout(60);
	}
}

// Blocks are unpacked, and wheels turned, when the browser comes to it: until then this waits.
async function becomes(holds) {
	for (const end = Date.now() + 60000; ;) {
		await settled();
		const now = await data(page);
		if (holds(now) || Date.now() > end) {
			return;
		}
	}
}

const failed = await all({
	"the tables have the numbers of the report": async () => {
		for (const [id, key] of [["kernels", "kernels"], ["copies", "copies"], ["api", "api"], ["markers", "markers"]]) {
			const shown = await cells(id);
			const rows = report[key].slice(0, 50);
			assert.ok(rows.length > 0 && shown.length >= rows.length, `${id}: ${shown.length}`);
			rows.forEach((row, i) => {
				assert.equal(shown[i][0], row.percent.toFixed(2));
				assert.equal(shown[i][2], grouped(row.calls));
				assert.equal(shown[i][7], row.name);
			});
		}
		const kept = await page.evaluate(() => window.rockit.kernels.rows);
		assert.deepEqual(kept, report.kernels);
	},
	"the summary has the totals": async () => {
		const text = await page.textContent("#summary");
		assert.ok(text.includes(grouped(report.kernel_rows)));
	},
	"the timeline has every kernel": async () => {
		const rows = await page.evaluate(() => window.rockit.data.lanes.filter((l) => l.kind === "kernels")
			.reduce((n, l) => n + l.rows, 0));
		assert.equal(rows, report.kernel_rows);
		await shot(page, "report", true);
	},
	"keys zoom down to single kernels and back": async () => {
		await page.focus("canvas");
		for (let i = 0; i < 24; i++) {
			await page.keyboard.press("+");
		}
		await becomes((d) => d.rows > 3 && d.to - d.from < 1e9);
		const near = await data(page);
		assert.ok(Number(near.rows) > 3 && near.to - near.from < 1e9, JSON.stringify(near));
		await shot(page, "zoomed");
		await page.keyboard.press("ArrowRight");
		await becomes((d) => Number(d.from) > Number(near.from));
		assert.ok(Number((await data(page)).from) > Number(near.from));
		await page.keyboard.press("0");
		await becomes((d) => Number(d.from) <= 0);
		assert.ok(Number((await data(page)).from) <= 0);
	},
	"a kernel of the table is shown, its neighbour too": async () => {
		await page.click("#kernels tbody tr:nth-child(1) .pick");
		await page.waitForSelector("#picked dl");
		assert.ok((await page.textContent("#picked")).includes(report.kernels[0].name.slice(0, 40)));
		assert.ok((await page.textContent("#picked")).includes(grouped(report.kernels[0].max_ns)));
		const before = await page.textContent("#picked");
		await page.focus("canvas");
		await page.keyboard.press("]");
		await page.waitForFunction((b) => document.getElementById("picked").textContent !== b, before);
		await settled();
		await shot(page, "picked");
		await page.keyboard.press("Escape");
		assert.ok(!(await page.$("#picked dl")));
	},
	"the wheel zooms at the pointer, drag moves": async () => {
		await page.keyboard.press("0");
		await settled();
		const box = await (await page.$("canvas")).boundingBox();
		await page.mouse.move(box.x + 300, box.y + 60);
		await page.keyboard.down("Control");
		await page.mouse.wheel(0, -1500);
		const span = await page.evaluate(() => window.rockit.data.span_ns);
		await becomes((d) => d.to - d.from < span / 2);
		await page.keyboard.up("Control");
		const zoomed = await data(page);
		assert.ok(zoomed.to - zoomed.from < span / 2);
		await page.mouse.down();
		await page.mouse.move(box.x + 100, box.y + 60, { steps: 5 });
		await page.mouse.up();
		await becomes((d) => Number(d.from) > Number(zoomed.from));
		assert.ok(Number((await data(page)).from) > Number(zoomed.from));
	},
	"slash searches, escape ends it": async () => {
		await page.focus("#theme");
		await page.keyboard.press("/");
		await page.keyboard.type("ATTENTION");
		const wanted = report.kernels.filter((k) => k.name.toLowerCase().includes("attention"));
		assert.ok(wanted.length > 0 && wanted.length < 50);
		assert.deepEqual((await cells("kernels")).map((c) => c[7]), wanted.map((k) => k.name));
		assert.equal(await page.evaluate(() => window.rockit.timeline.highlight.size), wanted.length);
		await page.keyboard.press("Escape");
		assert.equal((await cells("kernels")).length, Math.min(50, report.kernels.length));
		assert.equal(await page.evaluate(() => window.rockit.timeline.highlight), null);
	},
	"columns sort and say so": async () => {
		await page.click("#kernels thead th:nth-child(3) button");
		const calls = report.kernels.map((k) => k.calls).sort((a, b) => b - a).map(grouped);
		assert.deepEqual((await cells("kernels")).map((c) => c[2]), calls.slice(0, 50));
		assert.equal(await page.getAttribute("#kernels thead th:nth-child(3)", "aria-sort"), "descending");
		await page.click("#kernels thead th:nth-child(3) button");
		assert.equal((await cells("kernels"))[0][2], calls[calls.length - 1]);
	},
	"what is copied is exact": async () => {
		await page.context().grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
		await page.click("#copies .tools button");
		let text = "";
		for (let i = 0; i < 200 && !text; i++) {
			await page.waitForTimeout(50);
			text = await page.evaluate(() => navigator.clipboard.readText());
		}
		const [header, first] = text.split("\n");
		assert.equal(header.split("\t")[1], "Total");
		assert.equal(first.split("\t")[1], String(report.copies[0].total_ns));
	},
	"dark, print and phone": async () => {
		await page.click("#theme");
		await page.click("#theme");
		assert.equal(await page.getAttribute("html", "data-theme"), "dark");
		await shot(page, "dark");
		await page.emulateMedia({ media: "print" });
		await shot(page, "print", true);
		await page.emulateMedia({ media: "screen" });
		await page.setViewportSize({ width: 380, height: 740 });
		await settled();
		const wide = await page.evaluate(() => document.documentElement.scrollWidth);
		assert.ok(wide <= 380, `the page is ${wide} wide`);
		await shot(page, "phone", true);
	},
	"on a phone names come first": async () => {
		const p = await open(browser, "trace", { viewport: { width: 380, height: 740 } });
		const first = await p.$eval("#kernels tbody tr", (r) => r.children[0].textContent);
		assert.equal(first, report.kernels[0].name);
		assert.deepEqual(p.complaints, []);
		await p.close();
	},
	"paper is light, whatever the screen": async () => {
		const themes = await page.evaluate(() => ["beforeprint", "afterprint"].map((kind) => {
			window.dispatchEvent(new Event(kind));
			return document.documentElement.getAttribute("data-theme");
		}));
		assert.deepEqual(themes, ["light", "dark"]);
	},
	"every table has a caption, every button a name, and the canvas can be reached": async () => {
		const faults = await page.evaluate(() => [
			...[...document.querySelectorAll("table.data")].filter((t) => !t.caption?.textContent),
			...[...document.querySelectorAll("button")].filter((b) => !b.hidden && !(b.getAttribute("aria-label") || b.textContent)),
			...[...document.querySelectorAll("canvas")].filter((c) => c.tabIndex !== 0 || !c.getAttribute("aria-label")),
		].map((e) => e.outerHTML.slice(0, 100)));
		assert.deepEqual(faults, []);
	},
	"metrics and roofline are shown where there are counters": async () => {
		if (!process.env.GEN_COUNTERS) {
			return;
		}
		execFileSync(process.env.GEN_COUNTERS, ["5000", "counters.parquet"]);
		const m = JSON.parse(run("metrics", "-q", "counters.parquet", "--arch", "gfx942", "--format", "json"));
		const p = await open(browser, "counters.parquet", {}, "--arch", "gfx942");
		const judged = m.kernels.filter((k) => k.verdict !== "unusable");
		const verdicts = await p.$$eval("#metrics .expand", (s) => s.map((e) => e.textContent));
		assert.deepEqual(verdicts, judged.slice(0, 50).map((k) => k.verdict));
		const placed = m.kernels.filter((k) => k.roofline?.rate > 0 && k.roofline.levels.hbm.intensity > 0);
		assert.ok(placed.length > 0);
		assert.equal(await p.$$eval("#roofline circle", (c) => c.length), placed.length);
		await p.click("#metrics .expand");
		assert.ok((await p.textContent("#metrics .more")).includes("Metrics of this kernel"));
		await shot(p, "metrics", true);
		assert.deepEqual(p.complaints, []);
		await p.close();
	},
	"nothing is fetched and nothing complains": async () => {
		assert.deepEqual(page.requests.filter((u) => !u.startsWith("file:") || !u.endsWith("trace.html")), []);
		assert.deepEqual(page.complaints, []);
		assert.deepEqual(await page.evaluate(() => window.rockit.problems), []);
	},
});
await browser.close();
console.log(`# ${rockit}`);
process.exit(failed ? 1 : 0);
