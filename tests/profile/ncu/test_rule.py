"""ncu's own rules: those with an estimate, the largest first."""

from __future__ import annotations

from fictl.profile.ncu.rule import Rule, parse_rules


def test_the_rules_of_each_launch_come_in_the_order_of_their_estimates(recorded) -> None:
    rules = parse_rules(recorded("details.csv"))
    assert {*rules} == {"0", "3"}
    assert [(rule.name, rule.speedup, rule.local) for rule in rules["0"]] == [
        ("CPIStall", 19.07, False),
        ("TheoreticalOccupancy", 19.07, False),
        ("FPInstructions", 8.157, False),
        ("IssueSlotUtilization", 19.07, True),
    ]


def test_what_torchs_memory_can_never_be_is_no_advice(recorded) -> None:
    assert "MemoryL2Compression" in recorded("details.csv")
    rules = parse_rules(recorded("details.csv"))
    assert not any(rule.name == "MemoryL2Compression" for each in rules.values() for rule in each)


def test_the_gist_is_the_first_sentence_without_its_links(recorded) -> None:
    gists = {rule.name: rule.gist for rule in parse_rules(recorded("details.csv"))["0"]}
    assert gists["FPInstructions"] == (
        "This kernel executes 2228224 fused and 7995392 non-fused FP32 instructions."
    )
    assert gists["TheoreticalOccupancy"].endswith("are below the hardware maximum of 16.")
    linked = Rule("A", "Do it (https://a.example/b.html). Then more.", 1.0, False)
    assert linked.gist == "Do it."


def test_a_page_without_rules_has_none() -> None:
    assert parse_rules("==WARNING== nothing here") == {}
