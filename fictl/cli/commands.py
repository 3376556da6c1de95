"""The commands by what they are for, each with its line of `fictl --help`: that imports none of them.

A command is a line here and a module of its name beside this file, or a folder that has COMMANDS of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Begin": {
        "demo": "Create, build and test an op in a new project: a tour",
        "init": "Create a project",
        "doctor": "Examine this machine: each problem with its fix",
        "config": "Show the settings in force, and where each is from",
        "skills": "Teach coding agents to work with fictl",
        "mcp": "Serve the commands as tools of coding agents",
        "schema": "Print the JSON Schemas of what --json prints",
    },
    "Write ops": {
        "new-op": "Write an op: from an expression, torch, or a kernel",
        "upgrade": "Bring what is new in the scaffold into your ops",
        "export-op": "Copy an op into a project of its own, or for the Hub",
        "rename-op": "Rename an op, or move it to another family",
        "remove-op": "Delete an op and what belongs to it",
        "list": "List ops, and whether they are built",
        "where": "Print the files of an op",
        "check": "Check the layout and the declarations of ops",
    },
    "Build": {
        "build": "Compile ops",
        "watch": "Build, test and time at each save",
        "compile-commands": "Write compile_commands.json for editors",
        "warmup": "Build before a start what a program needed",
        "cache": "Show, explain, share and clean the builds",
    },
    "Test": {
        "test": "Compare ops with their references, also without a GPU",
        "sanitize": "Find races and out-of-bounds accesses",
        "debug": "Stop in a kernel, in a debugger",
        "replay": "Repeat logged calls",
    },
    "Measure": {
        "bench": "Time ops beside their baselines",
        "compare": "Say whether it is faster than before",
        "history": "Show times of ops over commits",
        "profile": "Say what bounds each kernel",
        "profile-diff": "Show what changed between two profiles",
        "inspect": "Show registers, spills, SASS; no GPU needed",
        "tune": "Find and keep the fastest configurations",
    },
    "Evaluate solutions": {
        "trace": "List, export, check and run definitions of ops",
        "solution": "Build, run, profile and sanitize one solution",
        "dataset": "Evaluate solutions on the workloads of a dataset",
    },
    "Many machines": {
        "farm": "Try, list and watch the places that work for --on",
    },
    "Ship": {
        "aot": "Build for machines without a compiler",
        "artifacts": "Publish and fetch signed sets of builds",
        "trust": "Choose whose builds are loaded",
        "compat": "Give engines fictl's ops by FlashInfer's names",
    },
}

COMMANDS: Mapping[str, str] = {
    name: line for section in SECTIONS.values() for name, line in section.items()
}
