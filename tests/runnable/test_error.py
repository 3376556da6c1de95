"""BuildError: readable however far it travels."""

from __future__ import annotations

import pickle

from fictl.errors import FictlError, SetupError
from fictl.runnable.error import BuildError, machine_error


def test_it_is_the_same_in_another_process():
    error = BuildError("no", "do", log="all", first_error="first")
    copy = pickle.loads(pickle.dumps(error))
    assert vars(copy) == vars(error)
    assert str(copy) == "no\n  hint: do"


def test_without_a_diagnostic_the_message_is_the_first_error():
    assert BuildError("no").first_error == "no"


def test_the_machines_faults_are_told_apart():
    assert machine_error("no", "do").is_of_machine
    assert not BuildError("no").is_of_machine
    assert BuildError.of("s", SetupError("no")).is_of_machine
    assert machine_error("no", "do").again().is_of_machine


def test_of_what_was_raised_names_the_solution_once():
    assert BuildError.of("mine", FictlError("no")).message == "mine: no"
    assert BuildError.of("mine", FictlError("mine is wrong")).message == "mine is wrong"
