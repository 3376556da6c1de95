"""The command line, called in this process."""

from tests.cli.conftest import fictl

__all__ = ["fictl"]
