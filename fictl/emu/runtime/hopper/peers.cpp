#include "peers.h"

namespace fictl_emu {

Block* holder(const Block& from, const void* address) {
  const std::vector<Block*>& blocks = from.cluster->blocks;
  if (from.shared.contains(address)) return blocks[from.place.rank];
  if (blocks.size() == 1) return nullptr;
  for (Block* block : blocks) {
    if (block->shared.contains(address)) return block;
  }
  return nullptr;
}

Block* holder(const void* address) { return holder(*current()->block, address); }

Block* peer(Block& block, uint32_t rank) {
  const std::vector<Block*>& blocks = block.cluster->blocks;
  return rank < blocks.size() ? blocks[rank] : nullptr;
}

}  // namespace fictl_emu
