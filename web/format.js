// format.js - formats numbers, and makes hostile text safe to show.

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

// Four significant digits, ns to s.
export function duration(ns) {
	if (ns === null || ns === undefined || !Number.isFinite(Number(ns))) {
		return "";
	}
	const v = Number(ns);
	const [scale, unit] = UNITS.find(([s]) => Math.abs(v) >= s) || UNITS[3];
	return `${scale === 1 && Number.isInteger(v) ? v : fixed(v / scale)} ${unit}`;
}

function fixed(v) {
	const size = Math.abs(v);
	return v.toFixed(size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3);
}

// About four digits; an exponent only for very small or large numbers.
export function digits(v) {
	const size = Math.abs(v);
	if (size !== 0 && (size < 0.001 || size >= 1e15)) {
		return v.toExponential(3);
	}
	return Number.isInteger(v) ? String(v) : fixed(v);
}

export function grouped(n) {
	if (n === null || n === undefined) {
		return "";
	}
	return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

// 123.4M, 20480, 12.35
export function quantity(v) {
	if (v === null || v === undefined || !Number.isFinite(v)) {
		return "";
	}
	for (const [scale, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"]]) {
		if (Math.abs(v) >= scale) {
			return digits(v / scale) + letter;
		}
	}
	return digits(v);
}

export function joules(j) {
	if (j === null || j === undefined || !Number.isFinite(j)) {
		return "";
	}
	const [scale, unit] = [[1e6, "MJ"], [1e3, "kJ"], [1, "J"], [1e-3, "mJ"], [1e-6, "µJ"]]
		.find(([s]) => Math.abs(j) >= s) || [1, "J"];
	return `${j === 0 ? "0" : fixed(j / scale)} ${unit}`;
}

export function bytes(n) {
	const names = ["B", "KB", "MB", "GB", "TB"];
	let i = 0;
	let v = Number(n);
	while (v >= 1000 && i < names.length - 1) {
		v /= 1000;
		i++;
	}
	return `${digits(v)} ${names[i]}`;
}

// Control characters, also those for text direction, are shown as escapes.
const STEERING = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

export function printable(text) {
	return String(text).replace(STEERING, (c) =>
		"\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

export function shortened(text, most) {
	const safe = printable(text);
	return safe.length > most ? safe.slice(0, most - 1) + "…" : safe;
}

// A cell must not start a formula in a spreadsheet or end its row.
export function tsvCell(value) {
	const text = value === null || value === undefined ? "" : printable(value);
	return /^[=+@]/.test(text) || (/^-/.test(text) && !/^-?[\d.]/.test(text)) ? "'" + text : text;
}

export function tsv(header, rows) {
	return [header, ...rows].map((r) => r.map(tsvCell).join("\t")).join("\n") + "\n";
}

// Converts a time of the page to the clock of the recording, which is too large for a double.
export function absolute(origin, relative) {
	return (BigInt(origin) + BigInt(Math.round(relative))).toString();
}
