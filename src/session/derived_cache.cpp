#include "session/derived_cache.h"

#include <algorithm>
#include <chrono>

namespace jarvis::session {

DerivedCache::Claim::~Claim() {
  if (!held_) return;
  const std::lock_guard lock(cache_.mutex_);
  std::erase_if(cache_.slots_, [&](const Slot& slot) { return slot.key == key_; });
  cache_.changed_.notify_all();
}

void DerivedCache::Claim::Keep(Erased value, std::size_t bytes) {
  const std::lock_guard lock(cache_.mutex_);
  Slot* slot = cache_.SlotOf(key_);
  slot->value = std::move(value);
  slot->bytes = bytes;
  slot->used = ++cache_.clock_;
  ++cache_.statistics_.made;
  ++cache_.statistics_.kept;
  cache_.statistics_.bytes += bytes;
  held_ = false;
  cache_.changed_.notify_all();
}

DerivedCache::Slot* DerivedCache::SlotOf(const Erased& key) {
  const auto found =
      std::find_if(slots_.begin(), slots_.end(), [&](const Slot& slot) { return slot.key == key; });
  return found == slots_.end() ? nullptr : &*found;
}

Result<DerivedCache::Erased> DerivedCache::FindOrClaim(std::type_index type, Same same,
                                                       const Job& job, Claim* claim) {
  // Between two looks at whether a caller that waits was cancelled.
  constexpr std::chrono::milliseconds kLookEvery(5);
  std::unique_lock lock(mutex_);
  while (true) {
    const auto found = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& slot) {
      return slot.type == type && same(slot.key.get(), claim->key_.get());
    });
    if (found == slots_.end()) {
      slots_.push_back({.type = type, .key = claim->key_, .value = nullptr});
      claim->held_ = true;
      return Erased();
    }
    if (found->value != nullptr) {
      found->used = ++clock_;
      ++statistics_.found;
      return found->value;
    }
    JV_TRY(job.Check());
    changed_.wait_for(lock, kLookEvery);
  }
}

void DerivedCache::Shrink(std::size_t bytes_max) {
  // What one value held nobody may hold once that is gone, so there are as many turns as it takes.
  while (true) {
    std::vector<Slot> dropped;  // let go of without the lock
    const std::lock_guard lock(mutex_);
    while (statistics_.bytes > bytes_max) {
      auto oldest = slots_.end();
      for (auto slot = slots_.begin(); slot != slots_.end(); ++slot) {
        // Values are handed out under the lock alone, so that one which nobody holds stays so.
        if (slot->value == nullptr || slot->value.use_count() > 1) continue;
        if (oldest == slots_.end() || slot->used < oldest->used) oldest = slot;
      }
      if (oldest == slots_.end()) break;
      statistics_.bytes -= oldest->bytes;
      --statistics_.kept;
      dropped.push_back(std::move(*oldest));
      slots_.erase(oldest);
    }
    if (dropped.empty() || statistics_.bytes <= bytes_max) return;
  }
}

DerivedCache::Statistics DerivedCache::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace jarvis::session
