from __future__ import annotations


def test_the_tools_of_agents_have_schemas(fictl) -> None:
    tools = fictl("solution", "tools", "--json").document["data"]["tools"]
    assert [tool["name"] for tool in tools] == [
        "compile_solution",
        "run_solution",
        "profile_solution",
        "sanitize_solution",
    ]
    for tool in tools:
        assert tool["description"]
        assert tool["input_schema"]["required"] == ["solution"]
        assert {"solution", "definition"} <= {*tool["input_schema"]["properties"]}
