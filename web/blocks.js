// blocks.js - a cache of blocks of rows, decoded when they come into view.

import { decodeBlock, fromBase85, inflate } from "./codec.js";

const KEPT = 300;
const AT_ONCE = 4;

export class BlockStore {
	// textOf(id): the block's text, or null if not loaded yet; ready(): called after each decoded block.
	constructor(textOf, ready) {
		this.textOf = textOf;
		this.ready = ready;
		this.kept = new Map();
		this.wanted = [];
		this.under = new Map();
		this.failed = new Map();
	}

	// The rows of {id, start}; null if not decoded yet, and then decoding starts.
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

	// A new frame: blocks wanted by the previous one may be out of view.
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

	// Like get(), but waits until the block is decoded.
	async load(block) {
		while (!this.kept.has(block.id) && !this.failed.has(block.id)) {
			this.get(block);
			await (this.under.get(block.id) || new Promise((done) => setTimeout(done, 20)));
		}
		return this.kept.get(block.id) || null;
	}
}
