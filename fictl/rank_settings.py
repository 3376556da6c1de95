"""Settings of the processes of one job, as launchers set them. Others read them from settings.py."""

from __future__ import annotations

from fictl import setting_values as values
from fictl.setting import Setting

RANK = Setting(
    "RANK",
    "text",
    str,
    "",
    "this process among those of a job, as launchers set it",
    also=("OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK"),
)
WORLD_SIZE = Setting(
    "WORLD_SIZE",
    "int",
    values.whole(1, 10**6),
    1,
    "how many processes a job has, as launchers set it",
    also=("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE"),
)
LOCAL_RANK: Setting[int | None] = Setting(
    "LOCAL_RANK",
    "int",
    values.whole(0, 10**6),
    None,
    "this process among those of a job on this machine; unset: as RANK",
    also=("OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "MPI_LOCALRANKID"),
)
MASTER_ADDR = Setting(
    "MASTER_ADDR", "text", str, "", "where the processes of a job meet; unset: on this machine"
)
JOB = Setting(
    "PMIX_NAMESPACE",
    "text",
    str,
    "",
    "what the processes of one job share, as launchers set it",
    also=("OMPI_MCA_ess_base_jobid", "SLURM_JOB_ID"),
)
RANK_TIMEOUT = Setting(
    "FICTL_RANK_TIMEOUT",
    "int",
    values.whole(1, 86400),
    60,
    "seconds that a rank waits in a collective until fictl names the rank that did not call it",
)
COMM_TIMEOUT = Setting(
    "FICTL_COMM_TIMEOUT",
    "int",
    values.whole(0, 86400),
    0,
    "seconds that a kernel waits for another rank until it ends, and fictl names that rank; 0: for ever",
)
