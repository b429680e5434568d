// format.mjs - numbers and hostile text.
import assert from "node:assert/strict";
import test from "node:test";

import * as f from "../../web/format.js";

test("durations have four digits and a unit", () => {
	assert.equal(f.duration(0), "0 ns");
	assert.equal(f.duration(999), "999 ns");
	assert.equal(f.duration(1234), "1.234 µs");
	assert.equal(f.duration(405.9e9), "405.9 s");
	assert.equal(f.duration(14000), "14.00 µs");
	assert.equal(f.duration(null), "");
	assert.equal(f.duration(-1500), "-1.500 µs");
});

test("what steers text is shown and not obeyed", () => {
	assert.equal(f.printable("a\u202eb\u0000c\u2066"), "a\\u202eb\\u0000c\\u2066");
	assert.equal(f.printable("שלום <b>"), "שלום <b>");
	assert.equal(f.shortened("x".repeat(10240), 400).length, 400);
});

test("cells of a copied table stay in their cell and begin no formula", () => {
	assert.equal(f.tsv(["a", "b"], [["x\ty", "=1+1"], [null, -5]]), "a\tb\nx\\u0009y\t'=1+1\n\t-5\n");
	assert.equal(f.tsvCell("-cmd|' /C calc'!A0"), "'-cmd|' /C calc'!A0");
});

test("absolute times keep their nanoseconds", () => {
	assert.equal(f.absolute("1763197934123456789", 11), "1763197934123456800");
	assert.equal(f.absolute("-5", 3), "-2");
});

test("counts, sizes and quantities", () => {
	assert.equal(f.grouped(1234567), "1,234,567");
	assert.equal(f.grouped(12), "12");
	assert.equal(f.bytes(47702597), "47.70 MB");
	assert.equal(f.quantity(123456789), "123.5M");
	assert.equal(f.quantity(4), "4");
	assert.equal(f.quantity(NaN), "");
});
