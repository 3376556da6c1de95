"""fictl compat list: what becomes of each public name."""

from __future__ import annotations


def test_the_document_has_every_name_and_what_engines_get(fictl) -> None:
    answer = fictl("compat", "list", "--json")
    data = answer.document["data"]
    assert (answer.code, answer.document["schema"]) == (0, "fictl.compat.list/1")
    assert (data["flashinfer"], len(data["names"])) == ("0.7.2", 872)
    assert sum(data["counts"].values()) == 872
    by_name = {each["name"]: each for each in data["names"]}
    rmsnorm = by_name["rmsnorm"]
    assert {"flashinfer", "flashinfer.norm"} <= {*rmsnorm.pop("modules")}
    engines = ["tensorrt_llm"]
    assert rmsnorm == {"name": "rmsnorm", "status": "served", "reason": "", "engines": engines}
    assert by_name["mm_fp4"]["status"] == "refused"
    assert "Blackwell" in by_name["mm_fp4"]["reason"]
    assert by_name["fast_decode_plan"]["status"] == "served"
    reached = {(each["engine"], each["way"], each["name"]) for each in data["engines"]}
    assert ("vllm 0.33.0", "always", "flashinfer.utils.FP4Tensor") in reached


def test_people_see_counts_and_ask_for_names(fictl) -> None:
    counts = fictl("compat", "list").out
    assert "served" in counts.splitlines()[1]
    assert "for which fictl has no kernels" in counts
    assert "rmsnorm_quant" not in counts
    listed = fictl("compat", "list", "RMSnorm", "--status", "served").out
    assert "gemma_rmsnorm" in listed
    assert "rmsnorm_fp4quant" not in listed


def test_what_is_not_there_is_refused(fictl) -> None:
    answer = fictl("compat", "list", "nonsense")
    assert (answer.code, answer.out) == (2, "")
    assert "no public name of FlashInfer 0.7.2 has nonsense in it" in answer.err
    assert fictl("compat", "list", "--status", "nearly").code == 2
