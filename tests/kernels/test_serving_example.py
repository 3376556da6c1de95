"""The server of docs/examples: whoever waits and joins gets the tokens of the whole sequence."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

from fictl.errors import FictlError

FOLDER = Path(__file__).parents[2] / "docs" / "examples"
NEAR = 0.06  # of a logit: bf16 rounds every step of the decoder


@pytest.fixture(scope="module")
def example() -> Any:
    """The modules of the example, as `python serve.py` has them."""
    sys.path.insert(0, str(FOLDER))
    try:
        import serve

        yield serve
    finally:
        sys.path.remove(str(FOLDER))
        for name in ("serve", "decoder", "llama", "peers"):
            sys.modules.pop(name, None)


def _logits(weights: Any, shape: Any, tokens: list[int]) -> torch.Tensor:
    """The next token's, of a whole sequence in fp64, without a cache."""
    wide: dict[str, Any] = {"dtype": torch.float64}
    x = weights.embedding[tokens].to(**wide)
    wide["device"] = x.device
    at = torch.arange(0, shape.dim, 2, **wide) / shape.dim
    angles = torch.arange(len(tokens), device=x.device)[:, None, None] * shape.theta**-at
    turn = torch.polar(torch.ones_like(angles), angles)

    def rotated(heads: torch.Tensor) -> torch.Tensor:
        first, second = heads.chunk(2, -1)
        moved = torch.complex(first, second) * turn
        return torch.cat((moved.real, moved.imag), -1)

    for layer in weights.layers:
        w = {name: value.to(**wide) for name, value in vars(layer).items()}
        normed = functional.rms_norm(x, x.shape[-1:], w["attention_norm"], shape.eps)
        heads = (normed @ w["qkv"].T).unflatten(-1, (-1, shape.dim))
        q, k, v = heads.split((shape.heads, shape.kv_heads, shape.kv_heads), 1)
        q, k, v = (y.transpose(0, 1) for y in (rotated(q), rotated(k), v))
        out = functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + out.transpose(0, 1).flatten(1) @ w["o"].T
        normed = functional.rms_norm(x, x.shape[-1:], w["ffn_norm"], shape.eps)
        gate, up = (normed @ w["gate_up"].T).unflatten(-1, (-1, 2)).unbind(-1)
        x = x + (functional.silu(gate) * up) @ w["down"].T
    last = functional.rms_norm(x[-1], x.shape[-1:], weights.norm.to(**wide), shape.eps)
    return weights.head.to(**wide) @ last


def test_requests_that_join_and_leave_get_the_tokens_of_their_sequence(
    example: Any, device: str
) -> None:
    """Five requests in a batch of three and a cache that holds three of them."""
    shape = example.SHAPES["tiny"]
    weights = example.random_weights(shape, device)
    engine = example.Engine(example.Decoder(shape, weights, pages=7), batch=3)
    lengths = ((17, 2), (1, 4), (31, 3), (16, 1), (40, 3))
    random = torch.Generator().manual_seed(3)
    requests = [
        engine.add(torch.randint(shape.vocab, (length,), generator=random).tolist(), most)
        for length, most in lengths
    ]
    steps = [len(stepped) for stepped in engine.run()]
    assert sum(steps) == sum(most for _, most in lengths)
    assert max(steps) > 1
    assert sorted(engine.free) == list(range(7))
    for request, (_, most) in zip(requests, lengths, strict=True):
        assert len(request.out) == most
        for at, token in enumerate(request.out):
            logits = _logits(weights, shape, request.prompt + request.out[:at])
            assert logits[token] > logits.max() - NEAR


def test_what_never_fits_is_refused(example: Any) -> None:
    shape = example.SHAPES["tiny"]
    engine = example.Engine(example.Decoder(shape, example.random_weights(shape, "cpu"), 2), 1)
    with pytest.raises(FictlError, match="20 and 13 tokens need 3 pages of 16; the cache has 2"):
        engine.add([1] * 20, 13)
    with pytest.raises(FictlError, match="a prompt of 0 tokens, to get 1"):
        engine.add([], 1)


def test_weights_of_a_folder_are_those_that_transformers_writes(
    example: Any, tmp_path: Path
) -> None:
    safetensors = pytest.importorskip("safetensors.torch")
    shape = example.SHAPES["tiny"]
    drawn = example.random_weights(shape, "cpu")
    tensors = {
        "model.embed_tokens.weight": drawn.embedding,
        "model.norm.weight": drawn.norm,
        "lm_head.weight": drawn.head,
    }
    for at, layer in enumerate(drawn.layers):
        heads = (shape.heads * shape.dim, *(shape.kv_heads * shape.dim,) * 2)
        gate, up = layer.gate_up.unflatten(0, (-1, 2)).unbind(1)
        parts = dict(zip(("q", "k", "v"), layer.qkv.split(heads), strict=True), o=layer.o)
        named = {f"self_attn.{name}_proj": value for name, value in parts.items()} | {
            "mlp.gate_proj": gate,
            "mlp.up_proj": up,
            "mlp.down_proj": layer.down,
            "input_layernorm": layer.attention_norm,
            "post_attention_layernorm": layer.ffn_norm,
        }
        for name, value in named.items():
            tensors[f"model.layers.{at}.{name}.weight"] = value.contiguous()
    safetensors.save_file(tensors, tmp_path / "model.safetensors")
    config = {
        "model_type": "llama",
        "num_hidden_layers": shape.layers,
        "hidden_size": shape.hidden,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.dim,
        "intermediate_size": shape.ffn,
        "vocab_size": shape.vocab,
        "rms_norm_eps": shape.eps,
        "rope_theta": shape.theta,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    read_shape, read = example.read_model(tmp_path, "cpu")
    assert read_shape == shape
    assert torch.equal(read.head, drawn.head)
    for mine, theirs in zip(read.layers, drawn.layers, strict=True):
        assert all(torch.equal(vars(mine)[name], value) for name, value in vars(theirs).items())
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "mamba"}))
    with pytest.raises(FictlError, match="is a model of type 'mamba'"):
        example.read_model(tmp_path, "cpu")


def test_the_command_serves_and_prints_tokens(
    device: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = [
        "serve.py",
        "--shape",
        "tiny",
        "--requests",
        "2",
        "--new",
        "2",
        "--batch",
        "3",
        "--json",
    ]
    monkeypatch.setattr(sys, "argv", line)
    monkeypatch.syspath_prepend(str(FOLDER))
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(FOLDER / "serve.py"), run_name="__main__")
    assert left.value.code == 0
    printed = capsys.readouterr()
    assert [len(row["out"]) for row in json.loads(printed.out)] == [2, 2]
    assert "4 new ones in 2 steps" in printed.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--compare", "vllm"), "--compare vllm: it takes torch, compile and flashinfer"),
        (("--profile",), "--compare and --profile need a GPU"),
    ],
)
def test_options_are_refused_in_words(
    words: tuple[str, ...],
    message: str,
    example: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FICTL_DEVICE", "emu")
    with pytest.raises(SystemExit):
        example.main(["--shape", "tiny", *words])
    assert message in capsys.readouterr().err


def test_what_it_is_compared_with_computes_the_same(example: Any, device: str) -> None:
    import peers

    shape = example.SHAPES["tiny"]
    weights = example.random_weights(shape, device)
    logits = []
    for name in ("fictl", "torch"):
        step = peers.step_of(name, shape, weights, 3, 20)
        random = torch.Generator().manual_seed(4)
        for cache in step.decoder.caches:
            keys, values = torch.randn(2, 3, 32, shape.kv_heads, shape.dim, generator=random)
            if name == "torch":
                cache.copy_(torch.stack((keys, values)).transpose(2, 3))
            else:
                pages = torch.stack((keys, values)).unflatten(2, (2, 16))
                cache.copy_(pages.permute(1, 2, 0, 3, 4, 5).flatten(0, 1))
        logits.append(step.decoder(step.step))
    assert (logits[0] - logits[1]).abs().max() < NEAR
