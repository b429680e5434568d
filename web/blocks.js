// blocks.js - blocks of rows, decoded when they are looked at and forgotten when they are not.

import { decodeBlock, fromBase85, inflate } from "./codec.js";

const KEPT = 300;
const AT_ONCE = 4;

export class BlockStore {
	// textOf(id): the block's text, null when it is not there yet; ready(): one more is decoded.
	constructor(textOf, ready) {
		this.textOf = textOf;
		this.ready = ready;
		this.kept = new Map();
		this.wanted = [];
		this.under = new Map();
		this.failed = new Map();
	}

	// The rows of {id, start}, or null; then they are asked for.
	get(block) {
		const rows = this.kept.get(block.id);
		if (rows) {
			this.kept.delete(block.id);
			this.kept.set(block.id, rows);
			return rows;
		}
		if (!this.under.has(block.id) && !this.failed.has(block.id)) {
			this.wanted.push(block);
			this.pump();
		}
		return null;
	}

	// A new picture: what an old one wanted may be out of sight.
	begin() {
		this.wanted.length = 0;
	}

	pump() {
		while (this.under.size < AT_ONCE && this.wanted.length) {
			const block = this.wanted.pop();
			if (this.under.has(block.id) || this.kept.has(block.id)) {
				continue;
			}
			const text = this.textOf(block.id);
			if (text !== null) {
				this.under.set(block.id, this.decode(block, text));
			}
		}
	}

	async decode(block, text) {
		try {
			const rows = decodeBlock(await inflate(fromBase85(text)), block.start);
			this.kept.set(block.id, rows);
			if (this.kept.size > KEPT) {
				this.kept.delete(this.kept.keys().next().value);
			}
		} catch (error) {
			this.failed.set(block.id, error);
		}
		this.under.delete(block.id);
		this.ready();
		this.pump();
	}

	// For those who can wait.
	async load(block) {
		while (!this.kept.has(block.id) && !this.failed.has(block.id)) {
			this.get(block);
			await (this.under.get(block.id) || new Promise((done) => setTimeout(done, 20)));
		}
		return this.kept.get(block.id) || null;
	}
}
