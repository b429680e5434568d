// trace_processor.mjs - Perfetto's own trace_processor, asked in SQL.
//
//	node trace_processor.mjs FOLDER < JSON [{"trace": PATH, "sql": [...]}, ...]
//
// FOLDER holds trace_processor.wasm and engine_bundle.node.js. Prints a JSON array: for each trace
// {"error": text or null, "results": [{"columns", "rows", "error"}]}. Integers past 2^53 are
// printed as they are. The bundle is made for a browser's worker: it is given the few globals it
// looks for, and spoken to in TraceProcessorRpc messages.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const APPEND = 1, FINALIZE = 2, QUERY = 3;

// ---- protobuf ----

function varint(value) {
	const bytes = [];
	let v = BigInt(value);
	while (v > 127n) {
		bytes.push(Number(v & 127n) | 128);
		v >>= 7n;
	}
	bytes.push(Number(v));
	return Buffer.from(bytes);
}

const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, data) => Buffer.concat([varint((field << 3) | 2), varint(data.length), data]);

function* fields(data) {
	let at = 0;
	const next = () => {
		let v = 0n;
		for (let shift = 0n; ; shift += 7n) {
			const byte = data[at++];
			v |= BigInt(byte & 127) << shift;
			if (byte < 128)
				return v;
		}
	};
	while (at < data.length) {
		const tag = Number(next());
		if ((tag & 7) === 0) {
			yield [tag >> 3, next()];
		} else if ((tag & 7) === 1) {
			at += 8;
			yield [tag >> 3, data.subarray(at - 8, at)];
		} else {
			const len = Number(next());
			at += len;
			yield [tag >> 3, data.subarray(at - len, at)];
		}
	}
}

function* packed(data) {
	let v = 0n, shift = 0n;
	for (const byte of data) {
		v |= BigInt(byte & 127) << shift;
		shift += 7n;
		if (byte < 128) {
			yield BigInt.asIntN(64, v);
			v = shift = 0n;
		}
	}
}

// ---- the engine ----

function start(folder, onReply) {
	const wasm = fs.readFileSync(path.join(folder, "trace_processor.wasm"));
	const self = { location: { href: "file:///" } };
	class Xhr { // the bundle loads its wasm by it
		open() {}
		send() {
			this.status = 200;
			this.response = wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length);
			this.onload?.();
		}
	}
	class Module { // the probe for 64-bit memories must fail: only the other build is here
		constructor(code) {
			if (code[8] === 5) // begins with a memory: the probe
				throw new TypeError("no 64-bit memories");
			return new WebAssembly.Module(code);
		}
	}
	const web = { Module };
	for (const name of ["compile", "Instance", "Memory", "Table", "Global", "RuntimeError"])
		web[name] = WebAssembly[name];
	const quiet = () => {};
	const globals = {
		self, XMLHttpRequest: Xhr, WorkerGlobalScope: class {}, WebAssembly: web, TypeError, Error, RangeError,
		Uint8Array, URL, TextDecoder, TextEncoder, performance, crypto: globalThis.crypto, setTimeout,
		clearTimeout, Promise, importScripts: quiet,
		console: { log: quiet, warn: quiet, error: (...a) => console.error(...a) },
	};
	const code = fs.readFileSync(path.join(folder, "engine_bundle.node.js"), "utf8");
	vm.runInContext(code, vm.createContext(globals));
	const port = { postMessage: onReply };
	self.onmessage({ data: port });
	return port;
}

class Processor {
	constructor(folder) {
		this.replies = [];
		this.seq = 0;
		this.port = start(folder, (data) => this.take(Buffer.from(data)));
	}

	take(data) {
		for (const [field, message] of fields(data))
			if (field === 1)
				this.replies.push(message);
	}

	// Replies come before the call returns.
	ask(request, ...more) {
		const message = Buffer.concat([number(1, this.seq++), number(2, request), ...more]);
		this.replies = [];
		this.port.onmessage({ data: new Uint8Array(bytes(1, message)) });
		return this.replies;
	}

	load(file) {
		const fd = fs.openSync(file), chunk = Buffer.alloc(8 << 20);
		let error = null;
		for (let n; !error && (n = fs.readSync(fd, chunk)) > 0;)
			error = problem(this.ask(APPEND, bytes(101, chunk.subarray(0, n))));
		fs.closeSync(fd);
		return error ?? problem(this.ask(FINALIZE));
	}

	query(sql) {
		const result = { columns: [], rows: [], error: null };
		for (const reply of this.ask(QUERY, bytes(103, bytes(1, Buffer.from(sql)))))
			for (const [field, message] of fields(reply))
				if (field === 203)
					takeResult(message, result);
		return result;
	}
}

// The text of an error in a reply: append_result.error, finalize_data_result.error, fatal_error.
function problem(replies) {
	for (const reply of replies)
		for (const [field, message] of fields(reply)) {
			if (field === 5)
				return message.toString();
			if (typeof message === "bigint")
				continue;
			for (const [inner, text] of field === 201 || field === 212 || field === 211 ? fields(message) : [])
				if (typeof text !== "bigint" && (inner === 2 || inner === 1) && text.length)
					return text.toString();
		}
	return null;
}

function takeResult(message, result) {
	for (const [field, value] of fields(message)) {
		if (field === 1)
			result.columns.push(value.toString());
		else if (field === 2 && value.length)
			result.error = value.toString();
		else if (field === 3)
			takeBatch(value, result);
	}
}

function takeBatch(batch, result) {
	const cells = [], numbers = [], reals = [];
	let texts = [];
	for (const [field, value] of fields(batch)) {
		if (field === 1)
			cells.push(...[...packed(value)].map(Number));
		else if (field === 2)
			numbers.push(...packed(value));
		else if (field === 3)
			for (let i = 0; i < value.length; i += 8)
				reals.push(value.readDoubleLE(i));
		else if (field === 5)
			texts = value.toString().split("\0");
	}
	let n = 0, r = 0, t = 0;
	const plain = cells.map((kind) =>
		kind === 2 ? numbers[n++] : kind === 3 ? reals[r++] : kind === 4 ? texts[t++] : null);
	for (let i = 0; i < plain.length; i += result.columns.length)
		result.rows.push(plain.slice(i, i + result.columns.length));
}

// JSON with every integer in full.
function show(v) {
	if (typeof v === "bigint")
		return v.toString();
	if (Array.isArray(v))
		return `[${v.map(show).join(",")}]`;
	if (v && typeof v === "object")
		return `{${Object.entries(v).map(([k, x]) => `${JSON.stringify(k)}:${show(x)}`).join(",")}}`;
	return JSON.stringify(v);
}

async function main() {
	const out = [];
	for (const { trace, sql } of JSON.parse(fs.readFileSync(0, "utf8"))) {
		const tp = new Processor(process.argv[2]);
		await new Promise((resolve) => setTimeout(resolve, 0)); // the bundle readies itself by promises
		const error = tp.load(trace);
		out.push({ error, results: error ? [] : sql.map((q) => tp.query(q)) });
	}
	console.log(show(out));
}

main().catch((e) => {
	console.error(`trace_processor.mjs: ${e.stack}`);
	process.exit(1);
});
