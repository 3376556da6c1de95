"""The names that op authors import to write a Python function of numbers in C++."""

from fictl.translate import (
    Parameter,
    PythonFunction,
    Result,
    Type,
    Untranslatable,
    Value,
    body,
    identifier,
    read_function,
)

__all__ = [
    "Parameter",
    "PythonFunction",
    "Result",
    "Type",
    "Untranslatable",
    "Value",
    "body",
    "identifier",
    "read_function",
]
