"""The parts of a help page: options by what they are about, examples, headings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fictl.cli import console

Row = tuple[str, str]
Sections = Mapping[str, Mapping[str, str]]

# A list of this many options is read at a glance.
_SHORT = 8

ARGUMENTS, STOP, CASES, MEASUREMENT, NCU, PHASES, MACHINE, LIMITS, OTHERS, OUTPUT = (
    "Arguments",
    "Where it stops",
    "Cases",
    "Measurement",
    "With --tool ncu",
    "With --tool events",
    "Machine",
    "Limits",
    "Options",
    "Output",
)
_ORDER = (ARGUMENTS, "", STOP, CASES, MEASUREMENT, NCU, PHASES, MACHINE, LIMITS, OTHERS, OUTPUT)

# The same words mean the same everywhere; where they do not, an option has a rich_help_panel.
_SECTION_OF = {
    name: section
    for section, names in {
        STOP: "--block --thread --break --fault --batch",
        CASES: "-k --kernel --case --dtype --backend --baseline --axis --axes --seed --changed --op --op-type"
        " --definition --definitions --solutions --workload --dataset --tensor --scalar --list",
        MEASUREMENT: "--timer --warm --rounds --stdrel --power --refcheck --threshold --iterations"
        " --num-trials --warmup-runs --profile-baseline --rtol --atol --required-matched-ratio"
        " --calls --tool --config --schedule --strict --test --bench",
        NCU: "--set --section --ncu-arg",
        PHASES: "--blocks --events",
        MACHINE: "--device --arch --gpus --on --wait --jobs -n --isolated --untrusted --locked"
        " --require-arch",
        LIMITS: "--timeout --max-time --bench-time --compile-timeout --print-limit --large",
        OUTPUT: "--out --csv --jsonl --plot --sarif --junit --trace --save --resume --json"
        " --verbose --log --dry-run --diff --force --commit --undo --once --help",
    }.items()
    for name in names.split()
}


# A longer name stands in a line of its own.
_COLUMN = 30


def write_sections(formatter: Any, sections: Mapping[str, Sequence[Row]]) -> None:
    """Write lists of names with their lines, all in the same columns."""
    longest = max(len(name) for rows in sections.values() for name, _ in rows)
    width = min(longest, _COLUMN)
    for title, rows in sections.items():
        with formatter.section(console.styled(title, "bold")):
            formatter.write_dl([(name.ljust(width), line) for name, line in rows], _COLUMN)


def write_options(command: Any, context: Any, formatter: Any) -> None:
    """Write arguments, then options: in one list, or by what they are about where they are many."""
    is_long = sum(param.param_type_name == "option" for param in command.params) > _SHORT
    rows: dict[str, list[Row]] = {}
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record:
            rows.setdefault(section_of(param, is_long), []).append(record)
    titles = sorted(rows, key=lambda title: _ORDER.index(title if title in _ORDER else ""))
    write_sections(formatter, {title: rows[title] for title in titles})


def section_of(param: Any, is_long: bool) -> str:
    if param.param_type_name == "argument":
        return ARGUMENTS
    if not is_long:
        return OTHERS
    known = (_SECTION_OF[name] for name in param.opts if name in _SECTION_OF)
    return getattr(param, "rich_help_panel", None) or next(known, OTHERS)


def write_examples(formatter: Any, examples: Mapping[str, str]) -> None:
    """Write command lines below what they are for; they can be pasted as they stand."""
    with formatter.section(console.styled("Examples", "bold")):
        for line, purpose in examples.items():
            formatter.write(f"  # {purpose}\n  {line}\n")
