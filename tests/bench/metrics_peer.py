"""metrics_peer.py PARQUET DATA - the formulas of data/metrics with pandas; prints JSON.

What a careful analyst would write: read the columns, evaluate each formula over whole columns,
group by kernel. `seconds` is CPU time from the read to the last table; Python's start and imports
are not counted.
"""
import json
import pathlib
import re
import sys
import time

import numpy as np
import pandas as pd

ARCH = "gfx942"
# of an MI300X in one partition
CHIP = {"cus": 304, "ses": 32, "banks": 32, "wslots": 32, "sclk": 2100, "mclk": 1300, "l2ch": 128,
        "hbmch": 128, "xcds": 8, "wave": 64, "pipes": 4, "sqcs": 160}
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


class Missing(Exception):
    pass


def fits(target):
    return any(ARCH == t or t.endswith("*") and ARCH.startswith(t[:-1]) for t in target.split())


def case(cases):
    """The expression for our target: the closest one that fits."""
    if isinstance(cases, str):
        return cases
    for target in sorted(cases, key=lambda t: (t == "*", "*" in t, -len(t))):
        if fits(target):
            return cases[target]
    return None


class Formulas:
    def __init__(self, folder, frame):
        self.frame, self.cache, self.terms, self.metrics = frame, {}, {}, []
        for path in sorted(pathlib.Path(folder).glob("*.json")):
            text = json.loads(path.read_text())
            self.terms.update(text.get("terms", {}))
            self.metrics += text["metrics"] if isinstance(text.get("metrics"), list) else []

    def value(self, name):
        if name not in self.cache:
            self.cache[name] = self.find(name)
        return self.cache[name]

    def find(self, name):
        column = name.replace("EA.", "TCC_EA0_")
        if column in self.frame:
            return self.frame[column].to_numpy()
        if name == "T":
            return self.frame["duration_ns"].to_numpy().astype(float)
        if name == "D":
            return 1.0
        if name in CHIP:
            return float(CHIP[name])
        text = case(self.terms[name]) if name in self.terms else None
        if text is None:
            raise Missing(name)
        return self.evaluate(text)

    def settled(self, text):
        """With a or b in the place of or(a,b): the first that has all its names."""
        while found := re.search(r"\bor\(", text):
            depth, at, comma = 0, found.end(), 0
            while depth >= 0:
                depth += {"(": 1, ")": -1}.get(text[at], 0)
                comma = comma or (at if depth == 0 and text[at] == "," else 0)
                at += 1
            first, second = text[found.end():comma], text[comma + 1:at - 1]
            try:
                self.names_of(self.settled(first))
            except Missing:
                first = second
            text = f"{text[:found.start()]}({first}){text[at:]}"
        return text

    def names_of(self, text):
        names = {"MAX0": lambda x: np.maximum(x, 0)}
        for name in set(NAME.findall(re.sub(r"\d[\d.]*(e[+-]?\d+)?", " ", text))) - {"MAX0"}:
            if name == "LVL":
                raise Missing(text)
            names[name.replace(".", "__")] = self.value(name)
        return names

    def evaluate(self, text):
        text = self.settled(text)
        names = self.names_of(text)
        return eval(NAME.sub(lambda m: m[0].replace(".", "__"), text), names)  # our own data

    def all(self):
        for metric in self.metrics:
            archs, text = metric.get("archs"), case(metric["expr"])
            if text is None or archs and not any(fits(a) for a in archs):
                continue
            try:
                yield metric["id"], self.evaluate(text)
            except Missing:
                pass


def main():
    path, folder = sys.argv[1:3]
    start = time.process_time()
    frame = pd.read_parquet(path)
    by = frame["kernel_name"].astype("category").cat.codes.to_numpy()
    time_ns = frame["duration_ns"].to_numpy().astype(float)
    whole, kernels = {}, 0
    with np.errstate(all="ignore"):
        for metric, values in Formulas(folder, frame).all():
            v = pd.Series(np.broadcast_to(values, len(frame)).astype(float))
            v = v.where(np.isfinite(v))
            groups = v.groupby(by)
            table = pd.DataFrame({"avg": groups.mean(), "min": groups.min(), "max": groups.max(),
                                  "weighted": (v * time_ns).groupby(by).sum() /
                                              pd.Series(time_ns).groupby(by).sum()})
            kernels = len(table)
            if v.notna().any():
                whole[metric] = [v.mean(), v.min(), v.max()]
    json.dump({"seconds": time.process_time() - start, "rows": len(frame), "kernels": kernels,
               "metrics": whole}, sys.stdout)


main()
