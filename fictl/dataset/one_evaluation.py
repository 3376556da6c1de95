"""One evaluation at the first place that can do it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from fictl.child.lost import Lost
from fictl.dataset.evaluator import ProcessEvaluator
from fictl.dataset.previous import PLACE
from fictl.dataset.run_plan import EvaluationJob
from fictl.errors import SetupError
from fictl.farm.places_file import places_of
from fictl.farm.station import in_words

if TYPE_CHECKING:
    from fictl.judge.config import EvalConfig
    from fictl.judge.tools.subject import SolutionSubject
    from fictl.trace import Evaluation


def evaluated_at(
    subject: SolutionSubject,
    config: EvalConfig,
    on: str,
    wait: float | None,
    note: Callable[[str], object],
) -> Evaluation:
    """Evaluate at a place; if it is lost, at the next. The result names the place."""
    job = EvaluationJob(subject.definition, subject.solution, config, 1)
    reasons = []
    for place in places_of(on, config.device):
        evaluator = ProcessEvaluator(subject.root, place, wait=wait, note=note)
        try:
            with place.held(note, lambda: False, wait):
                evaluation = evaluator.evaluate(job, subject.ready)
            facts = {**(evaluation.fictl or {}), PLACE: place.name}
            return evaluation.model_copy(update={"fictl": facts})
        except Lost as lost:
            reasons.append(f"{place.name}: {in_words(lost)}")
            note(f"place {reasons[-1]}")
        finally:
            evaluator.close()
    raise SetupError(f"no place could evaluate it: {'; '.join(reasons[:3])}", "fictl farm check")
