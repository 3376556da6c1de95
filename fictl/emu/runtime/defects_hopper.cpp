#include "defects_hopper.h"

#include "config.h"
#include "hopper/mbarrier.h"
#include "hopper/peers.h"
#include "words.h"

namespace fictl_emu::check {

namespace {

struct Place {
  const Block* block;
  uint32_t offset;
};

// In shared memory; no block: elsewhere.
Place place_of(const Access& access) {
  const Block* block = holder(*current()->block, access.address);
  if (block == nullptr) return {nullptr, 0};
  const char* canonical = block->shared.canonical(access.address);
  return {block, static_cast<uint32_t>(canonical - block->shared.base)};
}

// The copy whose memory is accessed, as one side of the race.
const KnownCopy* copy_of(const Race& race) {
  const Place place = place_of(race.access);
  const bool has_copy = race.access.is_bulk() || race.rival.is_bulk();
  if (place.block == nullptr || !has_copy) return nullptr;
  return record().of(*place.block).copy_at(place.offset);
}

std::string text_of(const CopyText& copy) {
  if (copy.base == nullptr) return copy.text;
  const Tensor* tensor = record().tensors.nearest(static_cast<const char*>(copy.base), 1);
  return tensor == nullptr ? copy.text : copy.text + " of tensor '" + tensor->name() + "'";
}

const Mbarrier* barrier_at(const Block& block, uint32_t offset) {
  const auto found = block.mbarriers.find(offset);
  return found == block.mbarriers.end() ? nullptr : &found->second;
}

void add(Report& report, const Block& block, const KnownCopy& known) {
  report.text("copy", text_of(known.copy));
  if (known.copy.base != nullptr) {
    const Tensor* tensor = record().tensors.nearest(static_cast<const char*>(known.copy.base), 1);
    if (tensor != nullptr) report.text("tensor", tensor->name());
  }
  const Mbarrier* barrier = barrier_at(block, known.barrier);
  if (barrier == nullptr) return;
  report.text("barrier", name_of(*barrier));
  report.number("stage", index_of(*barrier));
}

bool is_open(const Stamp& product) { return record().ends.of(product, true) == 0; }

const LastWait& last_wait_of(const Thread& thread) {
  return record().of(*thread.block).waited[thread.linear];
}

bool reads_early(const Race& race) {
  return race.access.way == Way::kRead && race.rival_wrote && race.rival.actor() == Actor::kLoad;
}

bool refills(const Race& race) {
  return race.access.way == Way::kCopyIssued && race.access.actor == Actor::kLoad;
}

const char* kind_of_unfenced(const Access& access, const Stamp& earlier, bool wrote) {
  if (!access.reads()) {
    return wrote ? "missing-proxy-fence-after-write" : "missing-proxy-fence-after-read";
  }
  return earlier.actor() == Actor::kCopy ? "missing-proxy-fence-after-cp-async"
                                         : "missing-proxy-fence";
}

// True where manuals ask for a fence, and GPUs do without as far as anyone knows.
bool is_strict(const Access& access, const Stamp& earlier, bool wrote) {
  if (access.reads()) return earlier.actor() == Actor::kCopy;
  return wrote || place_of(access).block == nullptr;
}

}  // namespace

std::string early_wait(const Thread& thread) {
  const LastWait& wait = last_wait_of(thread);
  const Mbarrier* barrier = barrier_at(*thread.block, wait.barrier);
  if (wait.how == LastWait::kProper || barrier == nullptr) return "";
  const std::string at =
      "the last wait of this thread, at mbarrier " + name_of(*barrier) + ", returned at once, ";
  if (wait.how == LastWait::kBeforeFirst) {
    return at +
           "as for the phase before the first: a consumer begins with parity 0, and flips it "
           "where the index of the stage wraps";
  }
  if (wait.how == LastWait::kAgain) {
    return at +
           "for a phase that it had waited for before: flip the parity where the index of the "
           "stage wraps";
  }
  return at +
         "two phases or more behind its wait before: a parity tells only the current phase "
         "from the one before";
}

std::string wrong_phase(const Race& race) {
  const LastWait& wait = last_wait_of(*race.thread);
  if (refills(race)) {
    return wait.how == LastWait::kBeforeFirst ? "" : early_wait(*race.thread);
  }
  const KnownCopy* copy = reads_early(race) ? copy_of(race) : nullptr;
  return copy == nullptr || copy->barrier != wait.barrier ? "" : early_wait(*race.thread);
}

void report_refilled(const KnownCopy& before, const CopyText& copy) {
  if (!record().is_news(copy.pc, before.copy.pc)) return;
  const Thread& thread = *current();
  const bool is_late = last_wait_of(thread).how != LastWait::kBeforeFirst;
  const std::string phase = is_late ? early_wait(thread) : "";
  Report report(phase.empty() ? "stage-reused" : "wrong-phase", &thread);
  report.place(copy.pc);
  report.text("what", text_of(copy) + " into a stage whose content nobody has waited for");
  report.text("cause", !phase.empty() ? phase
                                      : "the producer has not waited at the mbarrier for empty "
                                        "stages before it fills the stage again");
  add(report, *thread.block, before);
  report.other(text_of(before.copy), nullptr, before.copy.pc);
  report.file();
}

const char* kind_of(const Race& race) {
  if (place_of(race.access).block == nullptr) return "race";
  if (race.rival.actor() == Actor::kProduct) {
    return !is_open(race.rival) && refills(race) ? "stage-reused" : "wgmma-operand";
  }
  if (!wrong_phase(race).empty()) return "wrong-phase";
  if (refills(race)) return "stage-reused";
  if (reads_early(race)) return "async-read-early";
  const bool rewrites_source =
      race.access.writes() && !race.rival_wrote && race.rival.actor() == Actor::kStore;
  return rewrites_source ? "stage-reused" : "race";
}

std::string copy_in_words(const Race& race) {
  const KnownCopy* known = copy_of(race);
  if (known == nullptr) return "";
  const Mbarrier* barrier = barrier_at(*place_of(race.access).block, known->barrier);
  return text_of(known->copy) + (barrier == nullptr ? "" : " (mbarrier " + name_of(*barrier) + ")");
}

void add_copy(Report& report, const Race& race) {
  if (const KnownCopy* copy = copy_of(race)) add(report, *place_of(race.access).block, *copy);
}

std::string of_product(const Race& race) {
  const Stamp& product = race.rival;
  const Flights* flights = record().ends.find(Actor::kProduct, product.block, product.thread);
  if (flights != nullptr && !flights->is_committed(product.epoch)) {
    return "a wgmma may still read this memory, and no wgmma.commit_group follows it, so that no "
           "wait covers it: commit, then wgmma.wait_group";
  }
  if (is_open(race.rival)) {
    return "a wgmma may still read this memory: hand a stage back behind the wgmma.wait_group that "
           "covers its last product";
  }
  return "nothing orders this write behind the end of the wgmma: arrive at the mbarrier for empty "
         "stages behind wgmma.wait_group, and wait for it before the stage is written";
}

void report_unfenced(const Access& access, const Stamp& earlier, bool wrote) {
  if (is_strict(access, earlier, wrote) && config.strict == 0) return;
  if (!record().is_news(access.pc, earlier.place())) return;
  const Thread& thread = *current();
  const Location location = locate(thread, access.address, access.bytes);
  const Former former(earlier);
  const bool in_shared = place_of(access).block != nullptr;
  const std::string fence =
      in_shared ? "fence.proxy.async.shared::cta" : "fence.proxy.async.global";
  Report report(kind_of_unfenced(access, earlier, wrote), &thread);
  report.place(access.pc);
  report.text("what", sentence(access) + " at " + location.place() +
                          ", with no fence.proxy.async behind the " + verb(earlier, wrote) +
                          " of a thread");
  report.text("cause",
              "a barrier orders threads, and does not cross to the asynchronous proxy: "
              "each thread that has " +
                  std::string(wrote ? "written" : "read") + " calls " + fence +
                  " before it arrives");
  add(report, access, location);
  report.other(verb(earlier, wrote), former.thread(), earlier.place());
  report.file();
}

void report_unfenced_barrier(const Stamp& init, const void* pc) {
  if (!record().is_news(pc, init.place())) return;
  const Former former(init);
  Report report("missing-proxy-fence", current());
  report.place(pc);
  report.text("what",
              "a copy that counts at an mbarrier whose initialisation the copy engine need "
              "not know");
  report.text("cause",
              "the thread that calls mbarrier.init calls fence.mbarrier_init (or "
              "fence.proxy.async) behind it, before the barrier of the block");
  report.other("mbarrier.init", former.thread(), init.place());
  report.file();
}

void report_overwritten(const Access& access, const Mbarrier& barrier) {
  if (!record().is_news(access.pc, barrier.pc)) return;
  const Location location = locate(*current(), access.address, access.bytes);
  Report report("barrier-overwritten", current());
  report.place(access.pc);
  report.text("what",
              sentence(access) + " at " + location.place() + ", over mbarrier " + name_of(barrier));
  report.text("cause",
              "a tile or another variable reaches into the barrier; memory that is to be "
              "used for something else needs mbarrier.inval first");
  add(report, access, location);
  report.file();
}

void report_outside(const CopyText& copy) {
  if (!record().is_news(copy.pc, nullptr)) return;
  Report report("box-outside", current());
  report.place(copy.pc);
  report.text("what", text_of(copy) + ", which has nothing of the tensor");
  report.text("cause", "legal, and reads zeros: often a wrong coordinate, of a page or an expert");
  report.file();
}

void report_outlived(const Thread& thread, const void* pc) {
  Report report("copy-outlives-block", &thread);
  report.place(pc);
  report.text("what", "the block ends while a bulk store may still read its shared memory");
  report.text("cause",
              "the thread that has committed the store calls cp.async.bulk.wait_group or "
              ".read before it returns");
  report.file();
}

void report_no_product_fence(const RegisterRange& range, const void* pc) {
  if (!record().is_news(pc, range.touched)) return;
  Report report("missing-wgmma-fence", current());
  report.place(pc);
  report.text(
      "what",
      std::string(range.is_a ? "the registers of A" : "accumulators") + " of a wgmma" +
          (range.touched == nullptr ? ", before which there is no wgmma.fence"
                                    : " that the thread has accessed since its last wgmma.fence"));
  report.text("cause",
              "wgmma.fence comes before the first product, and again wherever other code "
              "has touched its registers");
  if (range.touched != nullptr) report.other("access", current(), range.touched);
  report.file();
}

void report_register(const Access& access, const RegisterRange& range, bool is_committed) {
  if (!record().is_news(access.pc, range.product)) return;
  Report report(is_committed ? "wgmma-register" : "uncommitted", current());
  report.place(access.pc);
  report.text("what", sentence(access) + " of " +
                          (range.is_a ? "a register of A" : "an accumulator") +
                          " of a wgmma under way");
  report.text("cause",
              is_committed
                  ? "until the wgmma.wait_group that covers it a product owns its registers: touch "
                    "them behind the wait"
                  : "no wgmma.commit_group follows the product, so that no wgmma.wait_group covers "
                    "it: commit before the wait");
  report.other("wgmma", current(), range.product);
  report.file();
}

void describe_copy(Report& report, const Mbarrier& barrier) {
  if (!enabled) return;
  const KnownCopy* latest = nullptr;
  for (const auto& [offset, copy] : record().of(*barrier.block).copies) {
    if (copy.barrier == barrier.offset) latest = &copy;
  }
  if (latest != nullptr) add(report, *barrier.block, *latest);
}

}  // namespace fictl_emu::check
