"""loops.py WHAT - what the measurements run on the GPU, for PyTorch.

pieces [kineto]    for each line on standard input, `tiny N` (N times two tiny kernels) or `blocks N` (N
                   transformer-like blocks), the seconds it took, as a line; with `kineto` all of it under
                   PyTorch's own profiler.
serve LOG          a server: steps of a transformer-like block in NVTX ranges "step", for ever; after each
                   100 steps a line in LOG: CLOCK_BOOTTIME in ns when all of them were over, steps so far
CASE [kineto]      eager, graphs, streams, processes: one line of JSON; with `kineto` the names and counts
                   of kernels as Kineto saw them.
"""
import contextlib
import json
import os
import sys
import time

import torch


def profiler():
    from torch.profiler import ProfilerActivity, profile
    return profile(activities=[ProfilerActivity.CUDA])


class Block(torch.nn.Module):
    def __init__(self, width=2048, heads=16):
        super().__init__()
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.attention = torch.nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(width, 4 * width), torch.nn.GELU(),
                                       torch.nn.Linear(4 * width, width))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


def tiny(x, n):
    for _ in range(n):
        x.add_(1.0)
        x.mul_(0.5)


def blocks(model, x, n):
    with torch.no_grad():
        for _ in range(n):
            x = model(x)


def timed(function, *args):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    function(*args)
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def pieces(kineto):
    """Another process had the GPU before: a part of each piece goes before what is timed."""
    x = torch.ones(256, device="cuda")
    y = torch.randn(16, 512, 2048, device="cuda", dtype=torch.half)
    with torch.device("cuda"):
        model = Block().half().eval()
    loops = {"tiny": lambda n: tiny(x, n), "blocks": lambda n: blocks(model, y, n)}
    watching = profiler() if kineto else contextlib.nullcontext()
    watching.__enter__()
    for line in sys.stdin:
        name, n = line.split()
        loops[name](int(n) // 10)
        print(timed(loops[name], int(n)), flush=True)
    if kineto:
        os._exit(0)  # what it has seen it would sort out for seconds, and nobody wants it


def serve(log):
    """The first line has the process id."""
    x = torch.randn(1, 128, 512, device="cuda", dtype=torch.half)
    with torch.device("cuda"):
        model = Block(512, 8).half().eval()
    steps = 0
    with open(log, "w", buffering=1) as out, torch.no_grad():
        print(os.getpid(), file=out)
        while True:
            for _ in range(100):
                with torch.cuda.nvtx.range("step"):
                    model(x)
            torch.cuda.synchronize()
            steps += 100
            print(time.clock_gettime_ns(time.CLOCK_BOOTTIME), steps, file=out)


def eager():
    model = Block().cuda().half().eval()
    blocks(model, torch.randn(16, 512, 2048, device="cuda", dtype=torch.half), 50)
    tiny(torch.ones(256, device="cuda"), 2000)


def graphs():
    x = torch.ones(4096, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            tiny(x, 10)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tiny(x, 10)
    for _ in range(200):
        graph.replay()


def streams():
    work = [torch.cuda.Stream() for _ in range(4)]
    tensors = [torch.ones(1 << 20, device="cuda") for _ in work]
    torch.cuda.synchronize()
    for _ in range(200):
        for stream, x in zip(work, tensors):
            with torch.cuda.stream(stream):
                x.mul_(1.5)
                x.cpu()


def child():
    tiny(torch.ones(256, device="cuda"), 500)
    torch.cuda.synchronize()


def processes():
    import torch.multiprocessing as mp
    context = mp.get_context("spawn")
    workers = [context.Process(target=child) for _ in range(3)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()


def kineto_kernels(prof):
    """Names, calls and ns of GPU kernels as Kineto has them."""
    found = {}
    for event in prof.profiler.kineto_results.events():
        if str(event.device_type()).endswith("CUDA") and event.name()[:6] not in ("Memcpy", "Memset"):
            if event.name().endswith(" Sync"):
                continue
            calls, total = found.get(event.name(), (0, 0))
            duration = event.duration_ns() if hasattr(event, "duration_ns") else event.duration_us() * 1000
            found[event.name()] = (calls + 1, total + duration)
    return found


def case(function, kineto):
    if not kineto:
        function()
        torch.cuda.synchronize()
        return {}
    with profiler() as prof:
        function()
        torch.cuda.synchronize()
    return {"kernels": kineto_kernels(prof)}


def main():
    what, kineto = sys.argv[1], "kineto" in sys.argv[2:]
    if what == "pieces":
        pieces(kineto)
    elif what == "serve":
        serve(sys.argv[2])
    else:
        print(json.dumps(case(globals()[what], kineto)), flush=True)


if __name__ == "__main__":
    main()
