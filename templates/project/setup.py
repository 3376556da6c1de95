"""Lets type checkers see the package after `pip install -e .`; pyproject.toml says everything else.

By default setuptools installs an import hook for a package of several folders, and type checkers run none.
"""

from pathlib import Path

from setuptools import setup

try:
    from setuptools.command.editable_wheel import _StaticPth, editable_wheel
except ImportError:  # Another setuptools: the hook will do.
    commands = {}
else:

    class EditableByPath(editable_wheel):
        """Adds the folder itself to the path."""

        def _select_strategy(self, name: str, tag: str, build_lib: object) -> _StaticPth:
            return _StaticPth(self.distribution, name, [Path(__file__).parent])

    commands = {"editable_wheel": EditableByPath}

setup(cmdclass=commands)
