"""Translates Python functions of numbers to C++, for kernels that run a user's function."""

from fictl.translate.body import Result, body
from fictl.translate.python_function import Parameter, PythonFunction, read_function
from fictl.translate.refused import Untranslatable
from fictl.translate.spelling import identifier
from fictl.translate.value import Type, Value

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
