"""CUDA architectures: the only place that knows their spelling, order and targets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from fictl.errors import InvalidValue, WrongType, shown

_TOKEN = re.compile(
    r"(?:sm_|compute_)?(?P<number>[0-9]{1,2}\.[0-9]|[0-9]{2,3})(?P<suffix>[af]?)(?P<ptx>\+ptx)?"
)
_SPELLINGS = "'9.0a', '90a', 'sm_90a', '10.0f', '8.0+PTX' or 'native'"

# First CUDA release whose nvcc has the target (NVIDIA's release notes; 10.1 became 11.0).
_FIRST_CUDA = {
    "7.5": "10.0",
    "8.0": "11.0",
    "8.6": "11.1",
    "8.7": "11.4",
    "8.8": "13.0",
    "8.9": "11.8",
    "9.0": "11.8",
    "9.0a": "12.0",
    "10.0": "12.8",
    "10.0a": "12.8",
    "10.0f": "12.9",
    "10.3": "12.9",
    "10.3a": "12.9",
    "10.3f": "12.9",
    "11.0": "13.0",
    "11.0a": "13.0",
    "11.0f": "13.0",
    "12.0": "12.8",
    "12.0a": "12.8",
    "12.0f": "12.9",
    "12.1": "12.9",
    "12.1a": "12.9",
    "12.1f": "12.9",
}

_FORMER = ("5.0", "5.2", "5.3", "6.0", "6.1", "6.2", "7.0", "7.2", "10.1", "10.1a", "10.1f")
_YET_TO_COME = 4


@dataclass(frozen=True, order=True)
class Arch:
    """One compute capability: a compile target (`a`, `f`, PTX), or a GPU's own (plain)."""

    major: int
    minor: int
    suffix: str = ""
    ptx: bool = False

    @classmethod
    def parse(cls, token: str) -> Arch:
        """Parse an architecture that exists, existed or may come to exist."""
        match = _TOKEN.fullmatch(_text(token).strip().lower())
        if not match:
            raise InvalidValue(
                f"unknown architecture '{shown(token)}'", f"write it as {_SPELLINGS}"
            )
        number = match["number"]
        major, minor = number.split(".") if "." in number else (number[:-1], number[-1])
        arch = cls(int(major), int(minor), match["suffix"], bool(match["ptx"]))
        if not arch.can_be:
            raise InvalidValue(
                f"there is no architecture {token.strip()!r}",
                f"there are {', '.join(target for target in _FIRST_CUDA)}",
            )
        return arch

    @property
    def can_be(self) -> bool:
        """True if an architecture of this number exists or may exist in newer toolkits."""
        newest = known_gpus()[-1]
        if self.plain > newest:
            return self.major <= newest.major + _YET_TO_COME
        target = f"{self.major}.{self.minor}{self.suffix}"
        return target in _FIRST_CUDA or target in _FORMER

    @property
    def number(self) -> str:
        """Return the digits and suffix of `sm_…`: 90a for 9.0a."""
        return f"{self.major}{self.minor}{self.suffix}"

    @property
    def gencode(self) -> str:
        code = f"[sm_{self.number},compute_{self.number}]" if self.ptx else f"sm_{self.number}"
        return f"-gencode=arch=compute_{self.number},code={code}"

    @property
    def first_cuda(self) -> str | None:
        """Return the first CUDA release that has this target, if known."""
        return _FIRST_CUDA.get(str(self).removesuffix("+PTX"))

    @property
    def plain(self) -> Arch:
        return Arch(self.major, self.minor)

    @property
    def full(self) -> Arch:
        """Return the target with all features of this GPU; from 9.0 on, it runs on no other GPU."""
        return Arch(self.major, self.minor, "a" if self.major >= 9 else "")

    def runs_on(self, gpu: Arch) -> bool:
        """True if code built for this target runs on `gpu`."""
        if self.suffix == "a":
            return self.plain == gpu.plain
        if self.major == gpu.major and self.minor <= gpu.minor:
            return True
        return self.ptx and not self.suffix and self.plain <= gpu.plain

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}{self.suffix}{'+PTX' if self.ptx else ''}"


def _text(value: object) -> str:
    if not isinstance(value, str):
        seen = f"{value!r}, of type {type(value).__name__}"
        raise WrongType(f"an architecture is given as {seen}", f"write it as {_SPELLINGS}")
    return value


def parse_archs(text: str, native: Callable[[], Iterable[Arch]] = tuple) -> tuple[Arch, ...]:
    """Parse a list split by spaces, commas or semicolons; `native` is resolved by the callback."""
    archs: list[Arch] = []
    for token in re.split(r"[\s,;]+", _text(text).strip()):
        if token.lower() == "native":
            archs.extend(native())
        elif token:
            archs.append(Arch.parse(token))
    return unique(archs)


def parse_gencode(flag: str) -> tuple[Arch, ...]:
    """Parse the targets of one `-gencode=arch=compute_X,code=…` flag; empty for another flag."""
    if not flag.startswith(("-gencode", "--generate-code")):
        return ()
    codes = re.findall(r"(sm|compute)_([0-9]+[af]?)", flag.partition(",code=")[2])
    ptx = {number for kind, number in codes if kind == "compute"}
    numbers = dict.fromkeys(number for _, number in codes)
    return tuple(Arch.parse(number + ("+ptx" if number in ptx else "")) for number in numbers)


def unique(archs: Iterable[Arch]) -> tuple[Arch, ...]:
    return tuple(sorted(set(archs)))


def spell(archs: Iterable[Arch]) -> str:
    return " ".join(str(arch) for arch in archs)


def known_gpus() -> tuple[Arch, ...]:
    """Return every compute capability that any toolkit has had as a target."""
    return _known_gpus()


@cache
def _known_gpus() -> tuple[Arch, ...]:
    numbers = {target.rstrip("af").partition(".")[::2] for target in _FIRST_CUDA}
    return unique(Arch(int(major), int(minor)) for major, minor in numbers)


@dataclass(frozen=True)
class Clause:
    """One alternative in an op's rule: a range of plain numbers, or one exact target."""

    low: Arch | None = None
    high: Arch | None = None
    exact: Arch | None = None

    def select(self, target: Arch) -> Arch | None:
        """Return the target to compile so that a GPU of `target` runs this op, or None."""
        if self.exact is None:
            above = self.low is None or self.low.plain <= target.plain
            below = self.high is None or target.plain < self.high.plain
            return target if above and below else None
        if self.exact.suffix == "f" and self.exact.runs_on(target):
            return target if target.suffix else self.exact
        if self.exact.plain != target.plain:
            return None
        # A plain GPU is requested and the op needs its `a` features: its `a` code runs there.
        return self.exact if self.exact.suffix and not target.suffix else target


_BOUND = re.compile(r"(>=|<)([\w.]+)")


@dataclass(frozen=True)
class ArchRule:
    """Architectures that an op declares: '>=8.0', '>=8.0<10.0', '9.0a'; alternatives by spaces."""

    text: str
    clauses: tuple[Clause, ...]

    @classmethod
    def parse(cls, text: str) -> ArchRule:
        clauses = []
        tokens = re.split(r"[\s,;]+", _text(text).strip())
        for token in tokens:
            limits = _BOUND.findall(token)
            bounds = dict(limits) if len({sign for sign, _ in limits}) == len(limits) else {}
            if bounds and not _BOUND.sub("", token):
                parsed = {sign: Arch.parse(number) for sign, number in bounds.items()}
                if ">=" not in parsed and len(tokens) > 1:
                    raise InvalidValue(
                        f"{token!r} stands alone in {text!r}, and alternatives add up",
                        "write a range as one word: '>=8.0<10.0'",
                    )
                clauses.append(Clause(low=parsed.get(">="), high=parsed.get("<")))
            else:
                clauses.append(Clause(exact=Arch.parse(token)))
            _require_a_gpu(token, text, clauses[-1])
        return cls(text, tuple(clauses))

    @classmethod
    def any_of(cls, rules: Iterable[ArchRule]) -> ArchRule:
        rules = tuple(rules)
        clauses = tuple(dict.fromkeys(clause for rule in rules for clause in rule.clauses))
        return cls(" ".join(dict.fromkeys(rule.text for rule in rules)), clauses)

    def select(self, target: Arch) -> Arch | None:
        picked = (clause.select(target) for clause in self.clauses)
        return next((arch for arch in picked if arch is not None), None)

    def supports(self, gpu: Arch) -> bool:
        return self.select(gpu.plain) is not None

    @property
    def exact(self) -> tuple[Arch, ...]:
        """Return the targets of a rule that names nothing but targets, as in '9.0a'; else ()."""
        targets = [clause.exact for clause in self.clauses if clause.exact]
        return unique(targets) if len(targets) == len(self.clauses) else ()

    def only_major(self, major: int) -> bool:
        """True if every alternative is an exact target of this major version."""
        return all(clause.exact and clause.exact.major == major for clause in self.clauses)

    def __str__(self) -> str:
        return self.text


def _require_a_gpu(token: str, text: str, clause: Clause) -> None:
    if not any(clause.select(gpu) for gpu in known_gpus()):
        known = known_gpus()
        raise InvalidValue(
            f"no GPU is {token}" + (f", in {text!r}" if token != text.strip() else ""),
            f"GPUs are {known[0]} to {known[-1]}, as in '>=8.0' or '9.0a'",
        )
