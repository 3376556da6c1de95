"""A planned attention: what a wrapper, or a call for one request, does behind its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch

from fictl.op import KernelModule, notice

from ._alibi import alibi_slopes
from ._arguments import Options
from ._config import Config
from ._lengths import Indices, Lengths
from ._settings import VALIDATE, VERBOSE, is_on
from ._slots import slots
from ._validation import check_pages
from ._work_list import Counts, Tiling, WorkList
from ._workspace import Partials, check_workspace, integers, partial_bytes

if TYPE_CHECKING:
    from ._define_variant import Variant


class Attention:
    """plan() once for any number of run().

    `workspace` is the user's for partial results, and None gets its own. With `graph` all that a
    kernel reads stays where the first plan put it. With `one_call` run() follows plan() at once.
    """

    def __init__(
        self,
        op: str,
        kernel: KernelModule,
        device: torch.device,
        workspace: torch.Tensor | None = None,
        *,
        tensor_cores: bool = True,
        paged: bool = False,
        hnd: bool = False,
        graph: bool = False,
        one_call: bool = False,
        variant: Variant | None = None,
    ) -> None:
        self.op = op
        self.device = device
        self.graph = graph
        self._modules = kernel
        self._tensor_cores = tensor_cores
        self._paged = paged
        self._hnd = hnd
        self._variant = variant
        self._list = WorkList(device, one_call=one_call)
        self._partials = Partials(None, device)
        if workspace is not None:
            self._lend(workspace)
        self._frozen: Mapping[str, object] = {}
        self._most_queries = 0
        self._kernel: KernelModule | None = None
        self._built: Config | None = None
        self._for: object = None
        self._options: Options | None = None
        self._lengths: Lengths | None = None
        self._counts: Counts | None = None
        self._rows = 0
        self._masked = False
        self._slopes: torch.Tensor | None = None
        self._pages_checked: object = None
        self._verbose = is_on(VERBOSE)
        self._validates = paged and is_on(VALIDATE)

    def reset_workspaces(self, floats: torch.Tensor, ints: torch.Tensor) -> None:
        """Other memory, from the next plan() on."""
        self._lend(floats)
        self._list.take(integers(check_workspace(self.op, "int_workspace_buffer", ints)))

    def _lend(self, workspace: torch.Tensor) -> None:
        lent = check_workspace(self.op, "float_workspace_buffer", workspace)
        self._partials = Partials(lent, self.device)

    @property
    def options(self) -> Options:
        """Of the last plan()."""
        if self._options is None:
            raise RuntimeError(f"{self.op}: run() was called before plan()")
        return self._options

    @property
    def counts(self) -> Counts:
        """Of the last plan()."""
        if self._counts is None:
            raise RuntimeError(f"{self.op}: run() was called before plan()")
        return self._counts

    @property
    def rows(self) -> int:
        """Of a tile, by the first plan() for CUDA graphs: their kernel stays what it is."""
        return self._rows if self.graph else 0

    def workspace_bytes(
        self, lengths: Lengths, options: Options, rows: int, masked: bool
    ) -> tuple[int, int]:
        """What plan() would need of float_workspace_buffer, and of int_workspace_buffer."""
        rows = self.rows or rows
        planner = self._modules[self._config(options, rows, masked)].plan
        tiling = self._tiling(lengths, options, rows, masked)
        counts = self._list.count(self.op, planner, lengths, tiling)
        floats = partial_bytes(counts.partial_rows, options.kv_heads, options.head_dim)
        return floats, 4 * counts.numbers

    def plan(
        self,
        lengths: Lengths,
        options: Options,
        rows: int,
        masked: bool = False,
        indices: Indices | None = None,
        why: str = "",
        non_blocking: bool = True,
    ) -> Counts:
        """Share out the work. `rows` of a tile; `why` these, in words."""
        rows = self.rows or rows
        if self._variant is not None and self._variant.causal and not options.causal:
            options = options._replace(causal=True)
        kernel, config = self._kernel, self._built
        if kernel is None or config is None or (options, rows, masked) != self._for:
            config = self._config(options, rows, masked)
            kernel = self._modules[config]
        tiling = self._tiling(lengths, options, rows, masked)
        fixed = self._fixed(lengths, config, tiling)
        counts, made = self._list.draft(self.op, kernel.plan, lengths, tiling)
        if indices is not None:
            indices.check(self.op, lengths, counts.key_end)
        self._partials.fit(self.op, counts.partial_rows, options.kv_heads, options.head_dim)
        self._list.place(self.op, counts, made, self.graph, non_blocking)
        self._kernel, self._built, self._for = kernel, config, (options, rows, masked)
        self._options, self._lengths, self._counts = options, lengths, counts
        self._rows, self._masked = rows, masked
        self._frozen, self._most_queries = fixed, tiling.most_queries
        self._slopes = None
        if options.positions == "ALIBI":
            self._slopes = alibi_slopes(options.heads, self.device)
        self._pages_checked = None
        if self._verbose:
            self._tell(tiling, why)
        return counts

    def check_window(self, window_left: int | None) -> None:
        """A list of work is made for one window."""
        planned = self.options.window_left
        if window_left is not None and max(window_left, -1) != planned:
            raise ValueError(
                f"{self.op}: argument 'window_left' is {window_left}, plan() was told {planned}; "
                "plan() again with it"
            )

    def replan(self, changed: Options) -> None:
        """Plan the same lengths again where the options change."""
        if changed != self.options and self._lengths is not None:
            self.plan(self._lengths, changed, self._rows, self._masked)

    def run(
        self,
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        out: torch.Tensor | None,
        lse: torch.Tensor | None,
        pages: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
        sinks: torch.Tensor | None = None,
        scale: float = 1.0,
        v_scale: float = 1.0,
        scalars: Mapping[str, float] | None = None,
        enable_pdl: bool | None = None,
    ) -> torch.Tensor:
        """Attention, into `out` or a new one; `scale` is another factor of the scores."""
        options = self.options
        self._check(q, k, v)
        if out is None:
            out = torch.empty(q.shape, dtype=options.o, device=q.device)
        elif out.dtype is not options.o:
            raise TypeError(
                f"{self.op}: argument 'out' has dtype {out.dtype}, plan() was told {options.o}"
            )
        if pages is not None and self._validates:
            self._validate(pages, k)
        assert self._kernel is not None
        self._kernel.attend(
            self.op,
            out,
            lse,
            q,
            k,
            v,
            pages,
            self._page_size(k),
            self._hnd,
            self._list.items,
            self._list.merges,
            self._list.to_copy,
            self._partials.out,
            self._partials.lse,
            mask,
            self._slopes,
            None if sinks is None else sinks.float(),
            options.sm_scale * scale,
            v_scale,
            options.soft_cap,
            options.window_left,
            options.causal and not self._masked,
            options.rope_scale,
            options.rope_theta,
            self._values(scalars),
            enable_pdl is None or enable_pdl,
        )
        return out

    def _config(self, options: Options, rows: int, masked: bool) -> Config:
        return Config(
            options.q,
            options.kv,
            options.o,
            options.head_dim,
            self._paged,
            rows,
            rope=options.positions == "ROPE_LLAMA",
            soft_cap=options.soft_cap > 0.0,
            alibi=options.positions == "ALIBI",
            custom_mask=masked,
            user=None if self._variant is None else self._variant.user,
        )

    def _tiling(self, lengths: Lengths, options: Options, rows: int, masked: bool) -> Tiling:
        at_once = slots(self.device, rows, options.head_dim, self._tensor_cores)
        most = 0
        if self.graph:
            reached = 0 if lengths.qo is None else int(lengths.qo[-1] - lengths.qo[0])
            most = self._most_queries or max(reached, lengths.requests * lengths.q_len, 1)
        return Tiling(
            rows,
            options.group,
            options.kv_heads,
            at_once,
            options.causal and not masked,
            options.window_left,
            masked,
            options.split,
            options.fixed_split,
            most,
        )

    def _fixed(self, lengths: Lengths, config: Config, tiling: Tiling) -> Mapping[str, object]:
        """What captured kernels were given by value stays as it was."""
        if not self.graph:
            return {}
        now = {
            "the number of requests": lengths.requests,
            "the kernel": config,
            "the number of heads of keys": tiling.kv_heads,
            "the number of heads of queries to one of keys": tiling.group,
            "causal": tiling.causal,
            "window_left": tiling.window_left,
        }
        for name, value in now.items() if self._frozen else ():
            if self._frozen[name] != value:
                raise ValueError(
                    f"{self.op}: {name} is {value}, the first plan() had {self._frozen[name]}, "
                    "which is part of captured CUDA graphs: use another wrapper"
                )
        return now

    def _check(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> None:
        """What the plan was made for."""
        options, counts = self.options, self.counts
        shape = (counts.query_end, options.heads, options.head_dim)
        if tuple(q.shape) != shape:
            raise ValueError(
                f"{self.op}: argument 'q' has shape {tuple(q.shape)}, plan() was told {shape}"
            )
        name = "paged_kv_cache" if self._paged else "k"
        for what, found, planned in (("q", q.dtype, options.q), (name, k.dtype, options.kv)):
            if found is not planned:
                raise ValueError(
                    f"{self.op}: argument '{what}' has dtype {found}, plan() was told {planned}"
                )
        head, slot = (1, 2) if self._hnd and self._paged else (2, 1)
        if not self._paged:
            head, slot = (0, 1) if self._hnd else (1, 0)
        inner = (k.shape[head], k.shape[-1])
        if inner != (options.kv_heads, options.head_dim):
            raise ValueError(
                f"{self.op}: argument '{name}' has shape {tuple(k.shape)}: {inner[0]} heads of "
                f"{inner[1]} values; plan() was told {options.kv_heads} of {options.head_dim}"
            )
        if v.shape != k.shape or v.dtype is not k.dtype:
            raise ValueError(
                f"{self.op}: keys have shape {tuple(k.shape)} and dtype {k.dtype}, values "
                f"{tuple(v.shape)} and {v.dtype}"
            )
        if self._paged:
            planned_size = self._lengths.page_size if self._lengths else 0
            if k.shape[slot] != planned_size:
                raise ValueError(
                    f"{self.op}: argument 'paged_kv_cache' has pages of {k.shape[slot]}, plan() "
                    f"was told {planned_size}"
                )
        elif k.shape[slot] < counts.key_end:
            raise ValueError(
                f"{self.op}: argument 'k' has {k.shape[slot]} tokens, kv_indptr goes to "
                f"{counts.key_end}"
            )

    def _page_size(self, k: torch.Tensor) -> int:
        return k.shape[2 if self._hnd else 1] if self._paged else 0

    def _values(self, scalars: Mapping[str, float] | None) -> torch.Tensor | None:
        if self._variant is not None:
            return self._variant.values(self.op, scalars or {})
        if scalars:
            raise TypeError(
                f"{self.op}: argument 'scalars' is for variants: {', '.join(scalars)}, but none "
                "was given"
            )
        return None

    def _validate(self, pages: torch.Tensor, k: torch.Tensor) -> None:
        """Once for a plan and a number of pages, since the GPU is waited for."""
        key = (pages.data_ptr(), k.shape[0])
        if self._pages_checked != key and self._lengths is not None:
            check_pages(self.op, pages, k.shape[0], self._lengths)
            self._pages_checked = key

    def _tell(self, tiling: Tiling, why: str) -> None:
        options, counts = self.options, self.counts
        cores = "tensor cores" if self._tensor_cores else "CUDA cores"
        work = f"{counts.tiles} tiles of up to {tiling.rows} rows"
        if counts.part:
            work += f", keys split into parts of up to {counts.part}"
        notice(
            f"{self.op}: {cores}{f' ({why})' if why else ''}; {options.q}, keys "
            f"{options.kv}, {options.heads} heads to {options.kv_heads} of {options.head_dim}: "
            f"{work}; {counts.items} items x {options.kv_heads} blocks, {tiling.slots} at once"
        )
