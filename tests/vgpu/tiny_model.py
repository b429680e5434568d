#!/usr/bin/env python3
"""Writes a language model of a few hundred kB with random weights, in the GGUF format that llama.cpp
reads. What it says is nonsense; its layers launch the kernels that those of a real model launch.

usage: tiny_model.py FILE q4_0|f16
"""

import random
import struct
import sys

LAYERS, WIDTH, HEADS, HIDDEN, WORDS, CONTEXT = 4, 256, 4, 512, 512, 512
ALIGNMENT = 32
F32, F16, Q4_0 = 0, 1, 2  # types of tensors
BYTES = {F32: (1, 4), F16: (1, 2), Q4_0: (32, 18)}  # numbers in a block, bytes of a block


def text(s):
    return struct.pack("<Q", len(s.encode())) + s.encode()


def value(v):
    """A value with its type; of a list, the type of what is in it."""
    if isinstance(v, str):
        return struct.pack("<I", 8) + text(v)
    if isinstance(v, int):
        return struct.pack("<II", 4, v)
    if isinstance(v, float):
        return struct.pack("<If", 6, v)
    kind = 5 if isinstance(v[0], int) else value(v[0])[0]  # llama.cpp wants signed numbers there
    return struct.pack("<IIQ", 9, kind, len(v)) + b"".join(value(x)[4:] for x in v)


def numbers(kind, count):
    """Small random weights: scales near zero, everything else as it comes."""
    per_block, size = BYTES[kind]
    if kind == F32:  # norms
        return struct.pack(f"<{count}f", *[1.0] * count)
    if kind == F16:
        return b"".join(struct.pack("<e", random.uniform(-0.05, 0.05)) for _ in range(count))
    return b"".join(struct.pack("<e", 0.01) + random.randbytes(size - 2) for _ in range(count // per_block))


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("q4_0", "f16"):
        sys.exit(__doc__.splitlines()[-1])
    path, kind = sys.argv[1], Q4_0 if sys.argv[2] == "q4_0" else F16
    random.seed(1)
    keys = {
        "general.architecture": "llama", "general.name": "tiny", "general.file_type": 2 if kind == Q4_0 else 1,
        "llama.context_length": CONTEXT, "llama.embedding_length": WIDTH, "llama.block_count": LAYERS,
        "llama.feed_forward_length": HIDDEN, "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": HEADS, "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": WIDTH // HEADS, "llama.vocab_size": WORDS,
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(256)]
        + [f"w{i}" for i in range(WORDS - 259)],
        "tokenizer.ggml.scores": [0.0] * WORDS,
        "tokenizer.ggml.token_type": [2, 3, 3] + [6] * 256 + [1] * (WORDS - 259),
        "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2,
    }
    tensors = [("token_embd.weight", (WIDTH, WORDS), kind), ("output_norm.weight", (WIDTH,), F32),
               ("output.weight", (WIDTH, WORDS), kind)]
    for layer in range(LAYERS):
        for name, shape in (("attn_norm", (WIDTH,)), ("ffn_norm", (WIDTH,)), ("attn_q", (WIDTH, WIDTH)),
                            ("attn_k", (WIDTH, WIDTH)), ("attn_v", (WIDTH, WIDTH)),
                            ("attn_output", (WIDTH, WIDTH)), ("ffn_gate", (WIDTH, HIDDEN)),
                            ("ffn_up", (WIDTH, HIDDEN)), ("ffn_down", (HIDDEN, WIDTH))):
            tensors.append((f"blk.{layer}.{name}.weight", shape, F32 if len(shape) == 1 else kind))
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(keys))
    head += b"".join(text(k) + value(v) for k, v in keys.items())
    data = b""
    for name, shape, of in tensors:
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        head += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, of, len(data))
        data += numbers(of, count)
        data += bytes(-len(data) % ALIGNMENT)
    with open(path, "wb") as f:
        f.write(head + bytes(-len(head) % ALIGNMENT) + data)


if __name__ == "__main__":
    main()
