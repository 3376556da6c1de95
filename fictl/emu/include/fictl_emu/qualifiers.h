// CUDA's qualifiers, where the host compiler sees another meaning in them or none.
#pragma once

#undef __launch_bounds__
#define __launch_bounds__(...)
#undef __maxnreg__
#define __maxnreg__(...)
#undef __grid_constant__
#define __grid_constant__

// fictl.emu.rewrite looks for these in the preprocessed text.
#undef __shared__
#define __shared__ __fictl_emu_shared__
#undef __cluster_dims__
#define __cluster_dims__ __fictl_emu_cluster_dims__
