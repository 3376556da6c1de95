"""Python functions of a few numbers, written in C++: for kernels that run what a user says."""

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
