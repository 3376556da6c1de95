"""Weights of Llama's shape: random ones, or those of a folder as transformers writes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch

from fictl.errors import FictlError

DTYPE = torch.bfloat16


@dataclass(frozen=True)
class Shape:
    """Sizes of a model. `scaling`: the numbers of Llama 3.1's frequencies, if it has them."""

    layers: int = 32
    hidden: int = 4096
    heads: int = 32
    kv_heads: int = 8
    dim: int = 128
    ffn: int = 14336
    vocab: int = 128256
    eps: float = 1e-5
    theta: float = 500_000.0
    scaling: dict[str, float] | None = None


SHAPES = {
    "llama-3-8b": Shape(),
    "tiny": Shape(layers=2, hidden=128, heads=4, kv_heads=2, dim=64, ffn=192, vocab=256),
}


@dataclass
class Layer:
    """Weights as linear layers store them. Rows of `gate_up` alternate: gate 0, up 0, gate 1, …"""

    attention_norm: torch.Tensor
    qkv: torch.Tensor
    o: torch.Tensor
    ffn_norm: torch.Tensor
    gate_up: torch.Tensor
    down: torch.Tensor


@dataclass
class Weights:
    embedding: torch.Tensor
    layers: list[Layer]
    norm: torch.Tensor
    head: torch.Tensor


def random_weights(shape: Shape, device: str, seed: int = 0) -> Weights:
    """Draw weights whose activations stay near 1, so that sampling meets real distributions."""
    generator = torch.Generator(device).manual_seed(seed)

    def linear(rows: int, columns: int) -> torch.Tensor:
        drawn = torch.empty(rows, columns, dtype=DTYPE, device=device)
        return drawn.normal_(0.0, columns**-0.5, generator=generator)

    def ones() -> torch.Tensor:
        return torch.ones(shape.hidden, dtype=DTYPE, device=device)

    heads = (shape.heads + 2 * shape.kv_heads) * shape.dim
    layers = [
        Layer(
            ones(),
            linear(heads, shape.hidden),
            linear(shape.hidden, shape.heads * shape.dim),
            ones(),
            linear(2 * shape.ffn, shape.hidden),
            linear(shape.hidden, shape.ffn),
        )
        for _ in range(shape.layers)
    ]
    embedding = linear(shape.vocab, shape.hidden)
    return Weights(embedding, layers, ones(), linear(shape.vocab, shape.hidden))


def read_model(folder: Path, device: str) -> tuple[Shape, Weights]:
    """Read a model of transformers' layout: config.json, and tensors by Llama's names."""
    from safetensors import safe_open

    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if config.get("model_type") != "llama":
        raise FictlError(
            f"{folder} is a model of type {config.get('model_type')!r}", "pass one of type 'llama'"
        )
    scaling = config.get("rope_scaling") or {}
    heads = config["num_attention_heads"]
    shape = Shape(
        config["num_hidden_layers"],
        config["hidden_size"],
        heads,
        config.get("num_key_value_heads", heads),
        config.get("head_dim", config["hidden_size"] // heads),
        config["intermediate_size"],
        config["vocab_size"],
        config["rms_norm_eps"],
        config.get("rope_theta", 10_000.0),
        {
            "rope_scale": scaling["factor"],
            "low_freq_factor": scaling["low_freq_factor"],
            "high_freq_factor": scaling["high_freq_factor"],
            "old_context_len": scaling["original_max_position_embeddings"],
        }
        if scaling
        else None,
    )
    tensors: dict[str, torch.Tensor] = {}
    for file in sorted(folder.glob("*.safetensors")):
        with safe_open(file, framework="pt", device=device) as opened:
            tensors |= {name: opened.get_tensor(name).to(DTYPE) for name in opened.keys()}  # noqa: SIM118
    return shape, _named(tensors, shape.layers)


def _named(tensors: dict[str, torch.Tensor], count: int) -> Weights:
    layers = []
    for at in range(count):
        q, k, v, o, gate, up, down, norm, ffn_norm = (
            tensors.pop(f"model.layers.{at}.{name}.weight")
            for name in (
                *(f"self_attn.{letter}_proj" for letter in "qkvo"),
                *("mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"),
                *("input_layernorm", "post_attention_layernorm"),
            )
        )
        gate_up = torch.stack((gate, up), 1).flatten(0, 1)
        layers.append(Layer(norm, torch.cat((q, k, v)), o, ffn_norm, gate_up, down))
    embedding = tensors["model.embed_tokens.weight"]
    head = tensors.get("lm_head.weight", embedding)
    return Weights(embedding, layers, tensors["model.norm.weight"], head)
