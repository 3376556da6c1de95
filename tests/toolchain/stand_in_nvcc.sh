#!/bin/sh
# Answers --version, --list-gpu-code and --dryrun like one CUDA release. A compile goes to the host
# compiler as C++, so that a .cu may declare kernels and cannot launch one.
# Every call is noted in <home>/calls.
here=$(cd "$(dirname "$0")" && pwd)
echo "$*" >> "$here/../calls"

old="50 52 53 60 61 62 70 72 75 80 86 87 89 90 90a"
new="75 80 86 87 88 89 90 90a 100 100a 100f 103 103a 103f 110 110a 110f 120 120a 120f 121 121a 121f"
case @RELEASE@ in
  11.8) patch=89 built=Wed_Sep_21_10:33:58_PDT_2022 id=31833905_0
        targets="35 37 50 52 53 60 61 62 70 72 75 80 86 87 89 90" ;;
  12.0) patch=140 built=Fri_Jan__6_16:45:21_PST_2023 id=32267302_0 targets="$old" ;;
  12.2) patch=140 built=Tue_Aug_15_22:02:13_PDT_2023 id=33191640_0 targets="$old" ;;
  12.4) patch=131 built=Thu_Mar_28_02:18:24_PDT_2024 id=34097967_0 targets="$old" ;;
  12.6) patch=85 built=Tue_Oct_29_23:50:19_PDT_2024 id=35059454_0 targets="$old" ;;
  12.8) patch=93 built=Fri_Feb_21_20:23:50_PST_2025 id=35583870_0
        targets="$old 100 100a 101 101a 120 120a" ;;
  12.9) patch=86 built=Tue_May_27_02:21:03_PDT_2025 id=36037853_0
        targets="$old 100 100a 100f 101 101a 101f 103 103a 103f 120 120a 120f 121 121a 121f" ;;
  13.0) patch=88 built=Wed_Aug_20_01:58:59_PM_PDT_2025 id=36424714_0 targets="$new" ;;
  13.1) patch=115 built=Tue_Dec_16_07:23:41_PM_PST_2025 id=37061995_0 targets="$new" ;;
esac

case $1 in
  --version)
    echo "nvcc: NVIDIA (R) Cuda compiler driver"
    echo "Copyright (c) 2005-2025 NVIDIA Corporation"
    echo "Built on $built"
    echo "Cuda compilation tools, release @RELEASE@, V@RELEASE@.$patch"
    echo "Build cuda_@RELEASE@.r@RELEASE@/compiler.$id"
    exit 0 ;;
  --list-gpu-code)
    for target in $targets; do
      case $target in *[af]) ;; *) echo "sm_$target" ;; esac
    done
    exit 0 ;;
esac

for word in "$@"; do
  case $word in -gencode=arch=compute_*)
    wanted=${word#*compute_}
    wanted=${wanted%%,*}
    for target in $targets; do
      [ "$target" = "$wanted" ] && found=yes
    done
    if [ -z "$found" ]; then
      case @RELEASE@ in
        12.6 | 12.8) why="Value 'compute_$wanted' is not defined for option 'gpu-architecture'" ;;
        *) why="Unsupported gpu architecture 'compute_$wanted'" ;;
      esac
      echo "nvcc fatal   : $why" >&2
      exit 1
    fi ;;
  esac
done

case "$*" in
  *"--dryrun "*" -c "*) ;;
  *" -c "*)
    for word; do
      shift
      case $word in
        -ccbin=*) cxx=${word#-ccbin=} ;;
        -Xcompiler=\"*\") word=${word#*\"} && set -- "$@" "${word%\"}" ;;
        -Xcompiler=*) set -- "$@" $(echo "${word#-Xcompiler=}" | tr , ' ') ;;
        -gencode=* | --expt* | --threads=* | -Xcudafe=* | -Xfatbin=* | -Xptxas=* | -lineinfo | -G) ;;
        *) set -- "$@" "$word" ;;
      esac
    done
    exec "$cxx" -x c++ -D__global__= -D__device__= -D__host__= "$@" ;;
  *) echo "nvcc fatal   : No input files specified; use option --help for more information" >&2
     exit 1 ;;
esac
cat >&2 <<DRYRUN
#\$ _HERE_=$here
#\$ TOP=$here/..
#\$ CICC_PATH=$here/../nvvm/bin
#\$ INCLUDES="-I$here/../include"  
#\$ LIBRARIES=  "-L$here/../lib64/stubs" "-L$here/../lib64"
DRYRUN
