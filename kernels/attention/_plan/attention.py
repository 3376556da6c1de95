"""Planned attention: what a wrapper, or a call for one request, does behind its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import torch

from fictl.op import KernelModule, notice

from .._arguments.cache import PagedCache
from .._arguments.head_scales import NO_SCALES, HeadScales
from .._arguments.options import Options
from .._config import Config
from .._settings import VALIDATE, VERBOSE, is_on
from .._sm90_tiles import gathers, rows_in_use
from .._tiles import blocks_at_once
from .._variant.variant import Variant
from .alibi import alibi_slopes
from .frozen import check_covered, frozen_values
from .lengths import Indices, Lengths
from .page_table import check_pages
from .tensors import Place, Usual, addressable, fitting
from .work_list import Counts, Tiling, WorkList
from .workspace import Partials, Scratch, check_workspace, integers, partial_bytes


class Work(NamedTuple):
    """Work for plan() to share out: `rows` of a tile, and `why` these and `backend`, in words.

    `keys` are those of a stage of the tile, where its backend has several. masked: queries see what
    bits say; `seen` is the C++ variant that says it of spans of keys.
    """

    lengths: Lengths
    options: Options
    rows: int
    masked: bool = False
    why: str = ""
    backend: str = "sm80"
    keys: int = 0
    seen: str = ""


def _key(work: Work) -> tuple[object, ...]:
    """List what a kernel is chosen by."""
    return work.options, work.rows, work.masked, work.backend, work.keys, work.seen


class Attention:
    """Attention with plan() once for any number of run().

    `workspace` is the user's for partial results, and None gets its own. With `graph` all that a
    kernel reads stays where the first plan put it. With `scratch`, which is for partial results,
    run() follows plan() at once, and copies the list until keep_list().
    """

    def __init__(
        self,
        op: str,
        kernel: KernelModule,
        device: torch.device,
        workspace: torch.Tensor | None = None,
        *,
        place: Place,
        tensor_cores: bool = True,
        graph: bool = False,
        scratch: Scratch | None = None,
        variant: Variant | None = None,
    ) -> None:
        self.op = op
        self.device = device
        self.graph = graph
        self._modules = kernel
        self._tensor_cores = tensor_cores
        self._place = place
        self._variant = variant
        self._list = WorkList(device, one_call=scratch is not None)
        self._scratch = scratch or Scratch(device)
        self._partials = Partials(None, self._scratch)
        if workspace is not None:
            self._lend(workspace)
        self._frozen: Mapping[str, object] = {}
        self._most_queries = 0
        self._kernel: KernelModule | None = None
        self._built: Config | None = None
        self._for: object = None
        self._work: Work | None = None
        self._planned: Work | None = None  # what the list is of, where forward() changed the work
        self._counts: Counts | None = None
        self._usual: Usual | None = None  # tensors that fit the work
        self._slopes: torch.Tensor | None = None
        self._pages_checked: object = None
        self._verbose = is_on(VERBOSE)
        self._validates = place.paged and is_on(VALIDATE)

    def reset_workspaces(self, floats: torch.Tensor, ints: torch.Tensor) -> None:
        """Use other memory, from the next plan() on."""
        self._lend(floats)
        self._list.take(integers(check_workspace(self.op, "int_workspace_buffer", ints)))

    def _lend(self, workspace: torch.Tensor) -> None:
        lent = check_workspace(self.op, "float_workspace_buffer", workspace)
        self._partials = Partials(lent, self._scratch)

    @property
    def lent(self) -> torch.Tensor | None:
        """Memory that the user lent for partial results, as bytes."""
        return self._partials.workspace

    @property
    def list_memory(self) -> torch.Tensor:
        """Memory of lists of work on the device."""
        return self._list.memory

    @property
    def has_variant(self) -> bool:
        """Tell whether scores and masks are a user's own."""
        return self._variant is not None

    @property
    def work(self) -> Work:
        """Work of the last plan()."""
        if self._work is None:
            raise RuntimeError(f"{self.op}: run() was called before plan()")
        return self._work

    @property
    def planned(self) -> Work:
        """Work of the last plan(), whatever forward() changed of it."""
        return self._planned or self.work

    @property
    def options(self) -> Options:
        """Options of the last plan(), or of a forward() after it."""
        return self.work.options

    @property
    def counts(self) -> Counts:
        """Counts of the last plan()."""
        if self._counts is None:
            raise RuntimeError(f"{self.op}: run() was called before plan()")
        return self._counts

    def workspace_bytes(self, work: Work) -> tuple[int, int]:
        """Count what plan() would need of float_workspace_buffer and of int_workspace_buffer."""
        work = self._with_fixed_rows(work)
        options = work.options
        planner = self._modules[self._config(work)].plan
        counts = self._list.count(self.op, planner, work.lengths, self._tiling(work))
        floats = partial_bytes(counts.partial_rows, options.kv_heads, options.head_dim_v)
        return floats, 4 * counts.numbers

    def plan(
        self, work: Work, indices: Indices | None = None, *, non_blocking: bool = True
    ) -> Counts:
        """Share out the work, and leave the list of it on the device."""
        if self._variant is not None and self._variant.causal:
            work = work._replace(options=work.options._replace(causal=True))
        if self.graph:
            work = self._with_fixed_rows(work)
        lengths, options = work.lengths, work.options
        kernel, config = self._kernel, self._built
        key = _key(work)
        if kernel is None or config is None or key != self._for:
            config = self._config(work)
            kernel = self._modules[config]
        tiling = self._tiling(work)
        frozen: Mapping[str, object] = {}
        if self.graph:
            frozen = frozen_values(self.op, self._frozen, lengths, config, tiling)
        counts, drafted = self._list.draft(self.op, kernel.plan, lengths, tiling)
        if indices is not None:
            indices.check(self.op, lengths, counts.key_end)
        self._partials.fit(self.op, counts.partial_rows, options.kv_heads, options.head_dim_v)
        self._list.place(self.op, counts, drafted, self.graph, non_blocking)
        self._kernel, self._built, self._for = kernel, config, key
        self._work, self._planned, self._counts = work, work, counts
        self._usual = Usual.of(self._place, options, counts, lengths)
        self._frozen, self._most_queries = frozen, tiling.most_queries
        self._slopes = self._slopes_of(options)
        self._pages_checked = None
        if self._verbose:
            self._tell(tiling)
        return counts

    def keep_list(self) -> None:
        """Let the list stay that run() has copied, for any number of further run()."""
        self._list.stay()

    def check_window(self, window_left: int | None) -> None:
        """Refuse another window than plan() was told: the list of work is for one window."""
        planned = self.options.window_left
        if window_left is not None and max(window_left, -1) != planned:
            raise ValueError(
                f"{self.op}: argument 'window_left' is {window_left}, plan() was told {planned}; "
                "plan() again with it"
            )

    def replan(self, options: Options) -> None:
        """Plan the same lengths again where the options change; for CUDA graphs keep the list.

        Why kept: a graph that is captured meanwhile would copy this list again at each replay, over
        those of later plans.
        """
        if options == self.options:
            return
        work = self.work._replace(options=options)
        if not self.graph:
            self.plan(work)
            return
        assert self._planned is not None
        check_covered(self.op, self._planned.options, options, self._planned.masked)
        config = self._config(work)
        self._kernel, self._built, self._for = self._modules[config], config, _key(work)
        self._work = work
        self._usual = Usual.of(self._place, options, self.counts, work.lengths)
        self._slopes = self._slopes_of(options)

    def run(
        self,
        q: torch.Tensor,
        k: PagedCache,
        v: torch.Tensor | None = None,
        *,
        out: torch.Tensor | None,
        lse: torch.Tensor | None,
        pages: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
        sinks: torch.Tensor | None = None,
        head_scales: HeadScales = NO_SCALES,
        scale: float = 1.0,
        v_scale: float = 1.0,
        scalars: Mapping[str, float] | None = None,
        windows: torch.Tensor | None = None,
        enable_pdl: bool | None = None,
        most_sms: int = 0,
    ) -> torch.Tensor:
        """Compute attention into `out` or a new tensor; `scale` is another factor of the scores.

        k: without v, a paged cache of both.
        most_sms: of the GPU's that a persistent kernel takes; 0 is all.
        """
        work, place = self.work, self._place
        options = work.options
        planned = (options, self.counts, work.lengths)
        takes_both = work.backend == "sm80"
        keys, values, page_size = fitting(self.op, place, planned, self._usual, q, k, v, takes_both)
        if out is None:
            shape = (*q.shape[:-1], options.head_dim_v)
            out = torch.empty(shape, dtype=options.o, device=q.device)
        elif out.dtype is not options.o:
            raise TypeError(
                f"{self.op}: argument 'out' has dtype {out.dtype}, plan() was told {options.o}"
            )
        if pages is not None and self._validates:
            self._validate(pages, keys)
        if work.backend == "sm90":
            q, keys, values = map(addressable, (q, keys, values))
        assert self._kernel is not None
        self._list.reset()
        try:
            self._kernel.attend(
                self.op,
                out,
                lse,
                q,
                keys,
                values,
                pages,
                page_size,
                place.hnd,
                self._list.items,
                self._list.merges,
                self._list.to_copy,
                self._partials.out,
                self._partials.lse,
                mask,
                self._slopes,
                None if sinks is None else sinks.float(),
                *head_scales,
                options.sm_scale * scale,
                v_scale,
                options.soft_cap,
                options.window_left,
                options.causal and not work.masked,
                options.rope_scale,
                options.rope_theta,
                self._values(scalars) if windows is None else windows,
                enable_pdl is None or enable_pdl,
                most_sms,
            )
        except BaseException:
            self._list.abandon()
            raise
        return out

    def _slopes_of(self, options: Options) -> torch.Tensor | None:
        return alibi_slopes(options.heads, self.device) if options.positions == "ALIBI" else None

    def _with_fixed_rows(self, work: Work) -> Work:
        """Keep the rows of the first plan() for CUDA graphs: their kernel stays what it is."""
        if not self.graph or self._work is None:
            return work
        first = self._work
        return work._replace(rows=first.rows, backend=first.backend, keys=first.keys)

    def _config(self, work: Work) -> Config:
        options = work.options
        return Config(
            options.q,
            options.kv,
            options.o,
            options.head_dim,
            self._place.paged,
            work.rows,
            rope=options.positions == "ROPE_LLAMA",
            soft_cap=options.soft_cap > 0.0,
            alibi=options.positions == "ALIBI",
            custom_mask=work.masked,
            user=None if self._variant is None else self._variant.user,
            tensor_cores=self._tensor_cores,
            head_dim_v=options.head_dim_v,
            backend=work.backend,
            keys=work.keys,
            seen=work.seen,
            gathers=gathers(work.backend, work.lengths.page_size),
        )

    def _tiling(self, work: Work) -> Tiling:
        lengths, options, rows, masked = work[:4]
        most = 0
        if self.graph:
            reached = 0 if lengths.qo is None else int(lengths.qo[-1] - lengths.qo[0])
            most = self._most_queries or max(reached, lengths.requests * lengths.q_len, 1)
        return Tiling(
            rows_in_use(rows, options.group) if work.backend == "sm90" else rows,
            options.group,
            options.kv_heads,
            blocks_at_once(
                self.device,
                rows,
                options.head_dim,
                self._tensor_cores,
                options.head_dim_v,
                work.backend,
            ),
            options.causal and not masked,
            options.window_left,
            masked,
            options.split,
            options.fixed_split,
            most,
        )

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
        """Check pages once for a plan and a number of pages, since the GPU is waited for."""
        key = (pages.data_ptr(), k.shape[0])
        if self._pages_checked != key:
            check_pages(self.op, pages, k.shape[0], self.work.lengths)
            self._pages_checked = key

    def _tell(self, tiling: Tiling) -> None:
        options, counts, why = self.options, self.counts, self.work.why
        cores = "tensor cores" if self._tensor_cores else "CUDA cores"
        if self.work.backend == "sm90":
            cores = "wgmma"
        dims = f"{options.head_dim}"
        if options.head_dim_v != options.head_dim:
            dims += f" (values of {options.head_dim_v})"
        shared = f"{counts.tiles} tiles of up to {tiling.rows} rows"
        if counts.part:
            shared += f", keys split into parts of up to {counts.part}"
        notice(
            f"{self.op}: {cores}{f' ({why})' if why else ''}; {options.q}, keys "
            f"{options.kv}, {options.heads} heads to {options.kv_heads} of {dims}: "
            f"{shared}; {counts.items} items x {options.kv_heads} blocks, {tiling.slots} at once"
        )
