// hostile.mjs - names that attack, and runs that are odd: each renders or says why not.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";

import { all, data, launch, open, run, shot, writeTrace } from "./lib.mjs";

const browser = await launch();
const full = Boolean(process.env.ROCKIT_TEST_FULL);

const ATTACKS = ["</script><script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>",
	"\" onmouseover=\"window.hacked=1", "' onfocus='window.hacked=1' autofocus='", "javascript:window.hacked=1",
	"<!--<script>", "]]><svg onload=window.hacked=1>", "{{script}}{{data}}", "\\u003cscript>window.hacked=1",
	"${window.hacked=1}", "`;window.hacked=1;`", "&lt;b&gt; &amp;amp;", "__proto__", "constructor",
	"\u202egnp.exe\u202c", "\u200f\u05d0\u05d1\u2067abc\u2069", "\u0000\u0001\u001b[31m", "\ud83d\ude00\u0301\u0301",
	"=HYPERLINK(\"http://x\",\"y\")", "</style><style>*{display:none}</style>", "x".repeat(10240),
	"<".repeat(10240), "</title><script>window.hacked=1</script>"];

async function quiet(page) {
	assert.deepEqual(page.complaints, []);
	assert.deepEqual(page.requests.filter((u) => !u.startsWith("file:")), []);
	assert.deepEqual(await page.evaluate(() => window.rockit.problems), []);
}

async function look(name, rows, more = () => {}) {
	const page = await open(browser, writeTrace(`${name}.csv`, rows));
	await more(page);
	await quiet(page);
	await shot(page, name);
	await page.close();
}

const day = 86400n * 1000000000n;

const tests = {
	"names that attack are text": async () => {
		const rows = ATTACKS.map((name, i) => ({ name, start: 1000 + i * 100, end: 1090 + i * 100 }));
		await look("attacks", rows, async (page) => {
			const report = JSON.parse(run("report", "-q", "attacks.csv", "--format", "json"));
			await page.hover("#kernels tbody tr:nth-child(2) .pick");
			await page.click("#kernels tbody tr:nth-child(3) .pick");
			const box = await (await page.$("canvas")).boundingBox();
			for (let x = 5; x < box.width; x += 40) {
				await page.mouse.move(box.x + x, box.y + 34);
			}
			assert.equal(await page.evaluate(() => window.hacked), undefined);
			assert.equal(await page.$$eval("#kernels tbody tr", (r) => r.length), report.kernels.length);
			assert.equal(await page.$$eval("img, svg[onload], iframe, object, embed", (e) => e.length), 0);
			assert.equal(await page.evaluate(() => [...document.querySelectorAll("script:not([type])")].length), 1);
			const wide = await page.evaluate(() => document.documentElement.scrollWidth);
			assert.ok(wide <= 1280, `the page is ${wide} wide`);
		});
	},
	"a file whose name attacks is text": async () => {
		const name = "<img src=x onerror=window.hacked=1>&\"'.csv";
		const page = await open(browser, writeTrace(name, [{ start: 1, end: 2 }]), { html: "attack-file.html" });
		assert.equal(await page.evaluate(() => window.hacked), undefined);
		assert.equal(await page.textContent("h1"), name);
		assert.ok((await page.title()).startsWith("<img"));
		await quiet(page);
		await page.close();
	},
	"the policy stops a script that got in all the same": async () => {
		const page = await open(browser, writeTrace("policy.csv", [{ start: 1, end: 2 }]));
		const blocked = await page.evaluate(() => new Promise((done) => {
			document.addEventListener("securitypolicyviolation", (e) => done(e.violatedDirective));
			const s = document.createElement("script");
			s.textContent = "window.hacked = 1";
			document.body.append(s);
			setTimeout(() => done("nothing was blocked"), 10000);
		}));
		assert.match(blocked, /script-src/);
		assert.equal(await page.evaluate(() => window.hacked), undefined);
		await page.close();
	},
	"an empty run says so": async () => {
		await look("empty", [], async (page) => {
			assert.match(await page.textContent("#timeline"), /No timeline/);
			assert.match(await page.textContent("#kernels"), /no kernels/);
		});
	},
	"statistics without kernels say so": async () => {
		writeFileSync("1_kernel_stats.csv", '"Name","Calls","TotalDurationNs","AverageNs","Percentage","MinNs","MaxNs","StdDev"\n' +
			'"k",2,30,15.0,100.0,10,20,5.0\n');
		const page = await open(browser, "1_kernel_stats.csv");
		assert.match(await page.textContent("#timeline"), /without single kernels/);
		await quiet(page);
		await page.close();
	},
	"one kernel is drawn": async () => {
		await look("one", [{ start: 5000, end: 6000 }], async (page) => {
			await page.waitForFunction(() => document.getElementById("timeline").dataset.rows === "1");
		});
	},
	"one kernel without length is drawn": () => look("nothing", [{ start: 5000, end: 5000 }]),
	"kernels that start together are drawn below each other": async () => {
		const rows = Array.from({ length: 40 }, (_, i) => ({ name: `k${i}`, start: 1000, end: 2000 + i }));
		await look("one-start", rows, async (page) => {
			assert.equal(await page.evaluate(() => window.rockit.data.lanes[0].depth), 8);
			await page.waitForFunction(() => document.getElementById("timeline").dataset.rows === "40");
		});
	},
	"gaps of days can be looked into": async () => {
		const rows = [];
		for (let d = 0n; d < 4n; d++) {
			for (let i = 0n; i < 200n; i++) {
				rows.push({ name: `day ${d}`, start: 1000n + d * 3n * day + i * 100n, end: 1080n + d * 3n * day + i * 100n });
			}
		}
		await look("days", rows, async (page) => {
			await page.click("#kernels tbody tr:nth-child(3) .pick");
			await page.waitForSelector("#picked dl");
			assert.match(await page.textContent("#picked"), /80 ns/);
			const seen = await data(page);
			assert.ok(seen.to - seen.from < 1e6 && Number(seen.rows) > 0, JSON.stringify(seen));
		});
	},
	"a clock that jumps is reported and drawn": async () => {
		const rows = [{ start: 5n, end: 105n }, { start: 1763197934123456789n, end: 1763197934123456999n }];
		await look("jump", rows, async (page) => {
			assert.match(await page.textContent("#timeline"), /rounded/);
			await page.click("#kernels tbody tr:nth-child(1) .pick");
			await page.waitForSelector("#picked dl");
			assert.match(await page.textContent("#picked"), /210 ns/);
		});
	},
	"times past all bounds are left out and told": async () => {
		const rows = [{ start: 5, end: 10 }, { start: 4611686018427387905n, end: 4611686018427388905n }];
		await look("far", rows, async (page) => {
			assert.match(await page.textContent("#timeline"), /1 rows have times that cannot be shown/);
			assert.match(await page.textContent("#summary"), /time-not-shown/);
		});
	},
	"a million streams share lanes, and the page says so": async () => {
		const rows = Array.from({ length: full ? 1000000 : 20000 }, (_, i) => ({ stream: i, start: i * 10, end: i * 10 + 8 }));
		await look("streams", rows, async (page) => {
			assert.ok(await page.evaluate(() => window.rockit.data.lanes.length) <= 129);
			assert.match(await page.textContent("#timeline"), /share one lane/);
		});
	},
	"a page that was cut off still shows its tables": async () => {
		const { readFileSync } = await import("node:fs");
		const rows = Array.from({ length: 20000 }, (_, i) => ({ start: i * 10, end: i * 10 + 8 }));
		run("report", "-q", writeTrace("cut.csv", rows), "--html", "whole.html");
		const whole = readFileSync("whole.html", "utf8");
		writeFileSync("cut.html", whole.slice(0, whole.indexOf('id="b1">') + 1000));
		const page = await open(browser, "cut.csv", { made: true, html: "cut.html" });
		assert.equal(await page.$$eval("#kernels tbody tr", (r) => r.length), 1);
		assert.deepEqual(page.complaints, []);
		await page.close();
	},
};
const failed = await all(tests);
await browser.close();
process.exit(failed ? 1 : 0);
