"""Results as plain data: the JSON of the library's renderers, with attributes for the most used fields."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import fields as _fields
from typing import Any, Dict, Iterator, List, Mapping, Optional, Type, TypeVar

T = TypeVar("T")


def pick(cls: Type[T], data: Mapping[str, Any]) -> T:
    """An instance from a JSON object: missing fields are None, unknown ones are ignored."""
    return cls(**{f.name: data.get(f.name) for f in _fields(cls)})  # type: ignore[arg-type]


class Document(Mapping[str, Any]):
    """A JSON document, with the text that the command would print."""

    def __init__(self, data: Dict[str, Any], text: str = "") -> None:
        #: the document as parsed JSON, its `schema` number included
        self.data = data
        self._text = text

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __str__(self) -> str:
        return self._text or repr(self)

    def __repr__(self) -> str:
        return f"<rockit.{type(self).__name__}: {', '.join(self.data)}>"


@dataclass(frozen=True)
class KernelStats:
    """All calls of one kernel, API function, copy direction or marker."""

    name: str
    calls: int
    total_ns: int
    mean_ns: Optional[float]
    min_ns: Optional[int]
    max_ns: Optional[int]
    median_ns: Optional[float]
    stddev_ns: Optional[float]
    percent: Optional[float]
    barrier: bool


class Report(Document):
    """`rockit report`: what took the time."""

    @property
    def kernels(self) -> List[KernelStats]:
        """By total time, largest first."""
        return [pick(KernelStats, k) for k in self.data["kernels"]]

    @property
    def kernel_rows(self) -> int:
        return int(self.data["kernel_rows"])

    @property
    def sum_duration_ns(self) -> int:
        return int(self.data["sum_duration_ns"])

    @property
    def tables(self) -> Dict[str, int]:
        """Rows of every standard table."""
        return dict(self.data["tables"])


@dataclass(frozen=True)
class Metric:
    """One metric over some dispatches."""

    id: str
    unit: str
    avg: Optional[float]
    min: Optional[float]
    max: Optional[float]
    weighted: Optional[float]
    peak: Optional[float]
    percent_of_peak: Optional[float]
    split: Optional[bool] = None
    """True: its counters are from different passes, because no pass has all of them."""


@dataclass(frozen=True)
class KernelMetrics:
    """The metrics of one kernel, and what limits it."""

    name: str
    calls: int
    total_ns: int
    percent: Optional[float]
    verdict: str
    reason: str
    metrics: Dict[str, Metric]


class Metrics(Document):
    """`rockit metrics`: what the counters mean."""

    @property
    def arch(self) -> Optional[str]:
        found: Optional[str] = self.data.get("arch")
        return found

    @property
    def metrics(self) -> Dict[str, Metric]:
        """Metrics over all dispatches, by id."""
        return {m["id"]: pick(Metric, m) for m in self.data["metrics"]}

    @property
    def kernels(self) -> List[KernelMetrics]:
        """By total time, largest first."""
        made = []
        for k in self.data["kernels"]:
            known = {m["id"]: pick(Metric, m) for m in k["metrics"]}
            made.append(pick(KernelMetrics, {**k, "metrics": known}))
        return made

    @property
    def absent(self) -> Dict[str, str]:
        """Metrics that could not be computed, and why."""
        return {a["id"]: a["reason"] for a in self.data["absent"]}


class Hotspots(Document):
    """`rockit report --hotspots`: instructions, source lines and stalls."""

    @property
    def kernels(self) -> List[Dict[str, Any]]:
        """Each with its instructions, source lines and stall reasons."""
        return list(self.data["hotspots"])


class Diff(Document):
    """`rockit diff`: what changed from A to B, in parts that sum to the whole."""

    @property
    def verdict(self) -> Optional[str]:
        """"within", "beyond" or "unknown", where a gate or structure was asked for."""
        found: Optional[str] = self.data.get("verdict")
        return found

    @property
    def delta_ns(self) -> Optional[int]:
        """Change of GPU time; None if a side has no GPU time."""
        gpu = self.data.get("gpu")
        return None if gpu is None else int(gpu["delta_ns"])

    @property
    def percent(self) -> Optional[float]:
        gpu = self.data.get("gpu") or {}
        return gpu.get("percent")

    @property
    def significant(self) -> bool:
        """Whether the change exceeds the noise between runs."""
        return bool((self.data.get("gpu") or {}).get("significant"))

    @property
    def kernels(self) -> List[Dict[str, Any]]:
        """By change, largest first."""
        return list(self.data["kernels"])
