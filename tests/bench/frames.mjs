// frames.mjs PAGE - first paint, and the time of each frame while a page is zoomed and moved. JSON.
import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

const places = [process.env.ROCKIT_NODE_MODULES, "build/node/node_modules"];
const modules = places.find((p) => p && existsSync(join(p, "playwright-core")));
const browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
if (!modules || !browser) {
	console.log(JSON.stringify({ skipped: "no playwright-core or no Chromium" }));
	process.exit(0);
}
const { chromium } = createRequire(join(resolve(modules), "x.js"))("playwright-core");
const b = await chromium.launch({ executablePath: browser,
	args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const page = await b.newPage({ viewport: { width: 1600, height: 900 } });
const begun = Date.now();
await page.goto(`file://${resolve(process.argv[2])}`, { waitUntil: "commit" });
await page.waitForFunction(() => document.getElementById("timeline")?.dataset.drawn);
const drawn = Date.now() - begun;
const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
await page.waitForLoadState("load");
const loaded = Date.now() - begun;

// In the page: one step a frame, the time from frame to frame, and the time the drawing took.
const result = await page.evaluate(async () => {
	const t = window.rockit.timeline;
	const frame = () => new Promise((done) => requestAnimationFrame(done));
	async function series(n, step) {
		const between = [];
		t.frames.length = 0;
		let before = await frame();
		for (let i = 0; i < n; i++) {
			step(i);
			const now = await frame();
			between.push(now - before);
			before = now;
		}
		return { between, drawing: t.frames.slice() };
	}
	const out = {};
	await series(20, (i) => t.pan(i % 2 ? 8 : -8)); // the first frames are of an engine that is cold
	out["pan all"] = await series(60, (i) => t.pan(i % 2 ? 30 : -30));
	out["zoom in"] = await series(150, () => t.zoom(1.08));
	out["pan near"] = await series(60, (i) => t.pan(i < 30 ? 90 : -90));
	out["zoom out"] = await series(150, () => t.zoom(1 / 1.08));
	return out;
});
await b.close();
const at = (v, q) => v.toSorted((x, y) => x - y)[Math.min(v.length - 1, Math.floor(v.length * q))];
const sum = (v) => ({ median: at(v, 0.5), p95: at(v, 0.95), most: Math.max(...v) });
console.log(JSON.stringify({ paint, drawn, loaded, frames: Object.fromEntries(Object.entries(result)
	.map(([k, v]) => [k, { between: sum(v.between), drawing: sum(v.drawing) }])) }));
