"""Values that people and programs give by mistake, drawn with a seed."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from random import Random

_STRANGE_NUMBERS = (
    "nan",
    "NaN",
    "inf",
    "-inf",
    "Infinity",
    "1e400",
    "-1e400",
    "1e999",
    "abc",
    "0x10",
    "0b1",
    "1_000",
    "１２",
    "٣",
    "²",
    "½",
    "Ⅷ",
    "1,5",
    "+-1",
    "--1",
    "1 2",
    "1e",
    "e1",
    ".",
    "-",
    "1.2.3",
    "9" * 30,
    "9" * 5000,
    "None",
    "true",
    "1j",
    "1f",
    "१",
    "𝟙",
    "1\u200b",
    "\u00a01",
    "[1]",
    "1%",
)
_STRANGE_TEXTS = (
    "[bold]",
    "[/]",
    "[/red]",
    "%s%n",
    "{}",
    "{0}",
    "{x!r}",
    "../../../etc/passwd",
    "-rf",
    "--",
    "*",
    "?",
    "[",
    "]",
    "(",
    "((((",
    "\\",
    "$(id)",
    "`id`",
    "'; drop",
    '"',
    "\u202e abc",
    "🙂",
    "é",
    "ｎａｍｅ",
    "x" * 300,
    "x" * 4000,
    "a/b/c",
    "/",
    "//",
    ".",
    "..",
    "~",
    "~nobody/x",
    "nul",
    "None",
    "\udcff",
    "a\udcffb",
    "x,y",
    ",",
    ",,,",
    "=",
    "a=",
    "=a",
    "a=b=c",
    ":",
    "a:",
    ":a",
    "::",
    "#",
    "-1",
    "0",
    "1e9",
    "nan",
    "a b",
    "тест",
    "0" * 400,
    "not x",
    "x and",
    "x or (",
    "lambda: 1",
)
_UNREADABLE = ("", " ", "   ", "a\nb", "\n", "a\tb", "\x1b[31m", "\x7f", "a\rb", "y" * 20_000)
ARCHS = (
    ">=99",
    "<7.0",
    "９.０",
    "8.０",
    "٨.٠",
    "sm_",
    "9.0b",
    "hopper",
    "8.0+",
    "-1",
    "9.9",
    "99.0",
    "0.0",
    "1.0",
    ">=9.0<8.0",
    "8.0a",
    "9.0f",
    "8..0",
    "8.0.0",
    "sm_9999",
    ">=",
    "<",
    "nan",
    ";",
    ",",
    "8.0;;x",
    "native9",
    "8.0 + PTX",
    "90aa",
    "7.9",
    "²",
    ">=8.0>=9.0",
    "compute_",
    "80 9x",
)


def numbers(random: Random, low: float, high: float, whole: bool, count: int) -> list[str]:
    """None of them is in the range."""
    beyond = [f"{low - 1:.17g}", f"{high * 2 + 1:.17g}", f"-{high + 1:.17g}", f"{high * 10:.17g}"]
    if whole:
        beyond = [
            f"{int(low) - 1}",
            f"{int(high) + 1}",
            f"{int(high) * 10 + 1}",
            "1.5",
            "2.0",
            "1e1",
        ]
    return chosen(random, [*_STRANGE_NUMBERS, *beyond, *(_noise(random) for _ in range(4))], count)


def texts(random: Random, count: int) -> list[str]:
    return chosen(random, [*_STRANGE_TEXTS, *(_noise(random) for _ in range(6))], count)


def unreadable(random: Random, count: int) -> list[str]:
    """What no option of any command can mean."""
    return chosen(random, _UNREADABLE, count)


def chosen(random: Random, among: Sequence[str], count: int) -> list[str]:
    return random.sample(list(dict.fromkeys(among)), min(count, len(set(among))))


def _noise(random: Random) -> str:
    letters = string.ascii_letters + string.punctuation + "０९é‮🙂\u2028"
    return "x" + "".join(random.choice(letters) for _ in range(random.randint(1, 40)))


def mangled(random: Random, text: str) -> str:
    """The text with one thing wrong in it: cut, doubled, or a character changed."""
    at = random.randrange(max(1, len(text)))
    ways: list[Callable[[], str]] = [
        lambda: text[:at],
        lambda: text[:at] + text[at:] + text[at:],
        lambda: text[:at] + random.choice('{}[]",:\\0\udcff\x00é') + text[at + 1 :],
        lambda: text[:at] + text[at + 1 :],
    ]
    return random.choice(ways)()
