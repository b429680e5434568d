// lib.mjs - pages in a real browser: Chromium by way of playwright-core.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const source = process.env.ROCKIT_SOURCE_DIR || resolve(import.meta.dirname ?? ".", "../..");
const places = [process.env.ROCKIT_NODE_MODULES, join(source, "build/node/node_modules")];
const browsers = [process.env.ROCKIT_CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser",
	"/usr/bin/google-chrome"];
export const rockit = process.env.ROCKIT;
export const out = resolve(process.env.ROCKIT_SCREENSHOTS || "screenshots");

function skip(why) {
	console.log(`skipped: ${why}`);
	process.exit(77);
}

export function find() {
	const modules = places.find((p) => p && existsSync(join(p, "playwright-core")));
	const browser = browsers.find((p) => p && existsSync(p));
	if (!rockit) {
		skip("ROCKIT does not name the command");
	}
	if (!modules) {
		skip("no playwright-core: sh tools/setup.sh test");
	}
	if (!browser) {
		skip("no Chromium: sh tools/setup.sh test");
	}
	return { playwright: createRequire(join(modules, "x.js"))("playwright-core"), browser };
}

export async function launch() {
	const { playwright, browser } = find();
	mkdirSync(out, { recursive: true });
	return playwright.chromium.launch({ executablePath: browser,
		args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
}

export function run(...argv) {
	return execFileSync(rockit, argv, { maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] }).toString();
}

const HEAD = ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id",
	"Kernel_Name", "Correlation_Id", "Start_Timestamp", "End_Timestamp"];

// A kernel trace: rows are {name, start, end, queue, stream, agent}; times may be BigInt.
export function writeTrace(name, rows) {
	const quote = (v) => `"${String(v).replaceAll('"', '""')}"`;
	const lines = rows.map((r, i) => ["KERNEL_DISPATCH", `Agent ${r.agent ?? 1}`, r.queue ?? 1, r.stream ?? 0,
		7, i + 1, 1, r.name ?? "k", i + 1, r.start, r.end].map(quote).join(","));
	writeFileSync(name, [HEAD.map(quote).join(","), ...lines].join("\n") + "\n");
	return name;
}

// The page of some input, open and complete. Everything the browser complains of is kept.
export async function open(browser, input, options = {}, ...more) {
	const html = resolve(options.html || `${input}.html`);
	if (!options.made) {
		run("report", "-q", input, "--html", html, ...more);
	}
	const page = await browser.newPage({ viewport: options.viewport || { width: 1280, height: 900 },
		colorScheme: options.scheme || "light" });
	page.setDefaultTimeout(120000);
	page.complaints = [];
	page.requests = [];
	page.on("console", (m) => ["error", "warning"].includes(m.type()) && page.complaints.push(m.text()));
	page.on("pageerror", (e) => page.complaints.push(e.stack));
	page.on("dialog", (d) => { page.complaints.push(`dialog: ${d.message()}`); d.dismiss(); });
	page.on("request", (r) => page.requests.push(r.url()));
	await page.goto(`file://${html}`);
	await page.waitForFunction(() => window.rockit && (document.getElementById("timeline").dataset.drawn ||
		document.querySelector("#timeline > p")));
	return page;
}

export const shot = (page, name, fullPage = false) =>
	page.screenshot({ path: join(out, `${name}.png`), fullPage });

export const data = (page) => page.evaluate(() => ({ ...document.getElementById("timeline").dataset }));

// Tests one after the other, as TAP.
export async function all(tests) {
	let failed = 0;
	const names = Object.keys(tests);
	console.log(`1..${names.length}`);
	for (const [i, name] of names.entries()) {
		try {
			await tests[name]();
			console.log(`ok ${i + 1} - ${name}`);
		} catch (error) {
			failed++;
			console.log(`not ok ${i + 1} - ${name}\n# ${String(error.stack).replaceAll("\n", "\n# ")}`);
		}
	}
	return failed;
}
