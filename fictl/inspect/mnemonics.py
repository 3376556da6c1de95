"""Names of SASS instructions: all of them, and the ones with a column of their own.

CUDA Binary Utilities, Instruction Set Reference, Turing to Blackwell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Grouped by purpose, in the order in which the mix is shown; the first two groups have their own pipe.
_TENSOR = (
    "HGMMA",
    "QGMMA",
    "IGMMA",
    "BGMMA",
    "UTCHMMA",
    "UTCQMMA",
    "UTCIMMA",
    "UTCOMMA",
    "HMMA",
    "QMMA",
    "OMMA",
    "IMMA",
    "BMMA",
    "DMMA",
)
_TMA = (
    "UTMALDG",
    "UTMASTG",
    "UTMAREDG",
    "UTMAPF",
    "UBLKCP",
    "UBLKRED",
    "UBLKPF",
)
_SHOWN = (
    *_TENSOR,
    *_TMA,
    "LDTM",
    "STTM",
    "LDGSTS",
    "LDG",
    "STG",
    "LDSM",
    "STSM",
    "STAS",
    "LDS",
    "STS",
    "LDL",
    "STL",
    "LD",
    "ST",
    "RED",
    "REDG",
    "ATOM",
    "ATOMG",
    "ATOMS",
    "REDUX",
    "SHFL",
    "BAR",
    "SYNCS",
    "UCGABAR_ARV",
    "UCGABAR_WAIT",
    "WARPGROUP",
    "USETMAXREG",
    "MUFU",
)
PIPES = {"tensor": _TENSOR, "TMA": _TMA}
# Loads and stores whose width shows how well they are vectorised.
_WITH_WIDTH = ("LDG", "STG", "LDS", "STS")
_WIDTHS = {"256": "256", "128": "128", "64": "64", "U16": "16", "S16": "16", "U8": "8", "S8": "8"}

_OTHERS = """
ACQBULK ACQSHMINIT ARRIVES B2R BMOV BMSK BPT BRA BREAK BREV BRX BRXU BSSY BSYNC CALL CCTL CCTLL CCTLT
CGAERRBAR CREDUX CS2R CS2UR CSMTEST DADD DEPBAR DFMA DMUL DSET DSETP ELECT ENDCOLLECTIVE ERRBAR EXIT
F2F F2FP F2I F2IP FADD FADD2 FADD32I FCHK FENCE FFMA FFMA2 FFMA32I FHADD FHFMA FLO FMNMX FMNMX3 FMUL FMUL2
FMUL32I FOOTPRINT FRND FSEL FSET FSETP FSWZADD GETLMEMBASE HADD2 HADD2_32I HFMA2 HFMA2_32I HMNMX2
HMUL2 HMUL2_32I HSET2 HSETP2 I2F I2FP I2I I2IP IABS IADD IADD2 IADD3 IADD32I IDP IDP4A IMAD IMNMX IMUL
IMUL32I ISCADD ISCADD32I ISETP JMP JMX JMXU KILL LDC LDCU LDGDEPBAR LDGMC LDT LEA LEPC LOP LOP3 LOP32I
MATCH MEMBAR MEMSET MOV MOV32I MOVM MULTIMEM NANOSLEEP NOP OUT P2R PIXLD PLOP3 PMTRIG POPC PREEXIT PRMT
PSETP QSPC R2B R2P R2UR RET RPCMOV RTT S2R S2UR SEL SETCTAID SETLMEMBASE SETSMEMSIZE SGXT SHF SHL SHR SP2R
SUATOM SULD SUQUERY SURED SUST SYNCWARP TEX TLD TLD4 TMML TXD TXQ UBMSK UBREV
UCLEA UF2F UF2FP UF2I UF2IP UFADD UFFMA UFLO UFMNMX UFMUL UFRND UFSEL UFSET UFSETP UGETNEXTWORKID UI2F
UI2FP UI2I UI2IP UIADD3 UIMAD UIMNMX UISETP ULDC ULEA ULEPC ULOP ULOP3 ULOP32I UMEMSETS UMOV UP2UR
UPLOP3 UPOPC UPRMT UPSETP UR2UP USEL USETSHMSZ USGXT USHF USHL USHR USTGR UTCATOMSWS UTCBAR
UTCCP UTCMXQMMA UTCSHIFT UTMACCTL UTMACMDFLUSH UVIADD UVIMNMX UVIMNMX3 UVIRTCOUNT VABSDIFF VABSDIFF4
VHMNMX VIADD VIADDMNMX VIMNMX VIMNMX3 VOTE VOTEU WARPSYNC YIELD
"""
KNOWN = frozenset((*_SHOWN, *_OTHERS.split()))

_NAME = re.compile(r"[A-Z][A-Z0-9_]*(\.\w+)*")


def is_instruction(name: str) -> bool:
    """True if some architecture has this instruction; modifiers may follow, as in LDG.128."""
    return bool(_NAME.fullmatch(name)) and name.partition(".")[0] in KNOWN


def group(opcode: str) -> str:
    """Group of an opcode: `LDG.128` of LDG.E.128.CONSTANT; '' for an opcode that is not shown."""
    name, *modifiers = opcode.split(".")
    if name not in _SHOWN:
        return ""
    if name in _WITH_WIDTH:
        return f"{name}.{next((_WIDTHS[word] for word in modifiers if word in _WIDTHS), '32')}"
    return name


def mix(opcodes: Mapping[str, int]) -> dict[str, int]:
    """Count instructions by group, tensor cores and copies first."""
    counts: dict[str, int] = {}
    for opcode, count in opcodes.items():
        if name := group(opcode):
            counts[name] = counts.get(name, 0) + count
    return dict(sorted(counts.items(), key=lambda item: _rank(item[0])))


def pipe_of(name: str) -> str:
    """Pipe of a group of the mix that works beside the warps: tensor or TMA; else ''."""
    return next((pipe for pipe, names in PIPES.items() if name in names), "")


def matches(opcode: str, name: str) -> bool:
    """True if `name`, an instruction with or without modifiers, means this opcode."""
    if group(opcode) == name:
        return True
    wanted, *modifiers = name.split(".")
    own, *has = opcode.split(".")
    return wanted == own and set(modifiers) <= set(has)


def _rank(name: str) -> tuple[int, int]:
    base, _, width = name.partition(".")
    return _SHOWN.index(base), -int(width or 0)
