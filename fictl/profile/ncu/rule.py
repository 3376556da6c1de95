"""Rules of ncu about a launch: the details page of its report, as CSV."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import Any

from fictl.profile.ncu.launch import table

# Compression needs memory allocated for it by the driver's API, which torch never uses.
_BESIDE_THE_POINT = {"MemoryL2Compression"}
_ADVICE = "OPT"


@dataclass(frozen=True)
class Rule:
    """A rule of ncu. speedup: ncu's estimate in percent, of the kernel or, if local, of
    one part.
    """

    name: str
    text: str
    speedup: float
    local: bool

    @property
    def gist(self) -> str:
        """The first sentence, without the links."""
        plain = re.sub(r" \((?:see )?https?://[^)]*\)", "", self.text)
        return re.split(r"(?<=\.)\s+(?=[A-Z])", plain, maxsplit=1)[0]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def parse_rules(text: str) -> dict[str, tuple[Rule, ...]]:
    """Rules of each launch by its ID: rules with an estimated speedup, the largest first."""
    by_launch: defaultdict[str, list[Rule]] = defaultdict(list)
    for row in csv.DictReader(table(text)):
        name, speedup = row.get("Rule Name"), row.get("Estimated Speedup")
        if name and speedup and row["Rule Type"] == _ADVICE and name not in _BESIDE_THE_POINT:
            local = row["Estimated Speedup Type"] == "local"
            by_launch[row["ID"]].append(Rule(name, row["Rule Description"], float(speedup), local))
    return {
        launch: tuple(sorted(rules, key=lambda rule: (rule.local, -rule.speedup)))
        for launch, rules in by_launch.items()
    }
