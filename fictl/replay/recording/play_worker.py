"""Play one recording in this process: see fictl.replay.recording.replaying."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from fictl.child.program import leave_answer, request_in
from fictl.op.watch.dump.record import Refused
from fictl.replay.recording.document import Recording
from fictl.replay.recording.messages import PlayAnswer, PlayRequest
from fictl.replay.recording.player import Player


def main(arguments: Sequence[str]) -> int:
    """Play the recording of a request, and send a PlayAnswer."""
    request = request_in(arguments, PlayRequest)
    try:
        calls = Player(Recording.read(request.recording), request.device).play()
        answer = PlayAnswer((*calls,))
    except Refused as error:
        answer = PlayAnswer(refusal=error.message)
    leave_answer(arguments, answer)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
