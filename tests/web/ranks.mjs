// ranks.mjs - how the time of a rank is parted.
import assert from "node:assert/strict";
import test from "node:test";

import { rankShares } from "../../web/ranks.js";

const rank = { rank: 0, first_ns: 100, last_ns: 1100, compute_ns: 600, comm_ns: 300, both_ns: 100, idle_ns: 200 };

test("the parts of a rank's time are its span", () => {
	const { span, ...parts } = rankShares(rank);
	assert.deepEqual(parts, { compute: 500, both: 100, comm: 200, idle: 200 });
	assert.equal(Object.values(parts).reduce((a, b) => a + b), span);
});

test("a rank of which little is known has no bar", () => {
	assert.equal(rankShares({ ...rank, compute_ns: null }), null);
	assert.equal(rankShares({ ...rank, compute_ns: 0, comm_ns: 0, both_ns: 0, idle_ns: 0 }), null);
});
