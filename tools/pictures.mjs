// pictures.mjs - the picture of the README: docs/img/report.png, the page of a run in a real browser.
//
// `make pictures` calls it; ROCKIT and APP name the programs. The run is real: the bundled OpenCL program on whatever device is here.
import { mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { launch, open, run } from "../tests/browser/lib.mjs";

const MAX_BYTES = 300_000;
const WIDTH = 1280;
const work = "build/pictures";
const target = "docs/img/report.png";
const folder = join(work, "inference");
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
mkdirSync("docs/img", { recursive: true });
run("run", "-q", "--tool", "opencl", "--redact", "-d", folder, "--", process.env.APP);
const browser = await launch();
const page = await open(browser, folder, { viewport: { width: WIDTH, height: 1000 } });

// Into the steps of the program, until single kernels can be distinguished.
const box = await page.locator("#timeline canvas").first().boundingBox();
await page.mouse.move(box.x + 0.9 * box.width, box.y + box.height / 2);
await page.keyboard.down("Control");
for (let i = 0; i < 14; i++) {
	await page.mouse.wheel(0, -120);
	await page.waitForTimeout(50);
}
await page.keyboard.up("Control");
await page.mouse.move(0, 0);
await page.waitForTimeout(500);
const end = await page.locator("#kernels table").boundingBox();
await page.screenshot({ path: target, clip: { x: 0, y: 0, width: WIDTH, height: Math.ceil(end.y + end.height + 16) },
	fullPage: true });
await browser.close();
const bytes = statSync(target).size;
console.log(`${target}: ${bytes} bytes`);
process.exit(bytes <= MAX_BYTES ? 0 : 1);
