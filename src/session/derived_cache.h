// What is derived from one trace and costs too much to be made for every question: made when first
// asked for, once however many threads ask, and kept for whoever asks next.
//
// A key is a struct that says all that the thing depends on beside the trace. It names the type of
// the thing (`using Value = Analysis;`), can be compared for equality, and owns what it compares:
// an address alone could come to mean something else. Values must not hold the trace alive, which
// holds them.
//
// Threads: every method may be called from any thread. No lock is held while something is made, so
// that making one thing may ask for another.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <typeindex>
#include <utility>
#include <vector>

#include "base/job.h"
#include "base/result.h"

namespace jarvis::session {

class DerivedCache {
 public:
  template <typename T>
  struct Made {
    std::shared_ptr<const T> value;  // never null
    std::size_t bytes = 0;           // what it takes up, about
  };

  struct Statistics {
    std::uint64_t made = 0;   // things that were made, also those that were dropped since
    std::uint64_t found = 0;  // questions that were answered by what was there
    std::size_t kept = 0;     // things there now
    std::size_t bytes = 0;    // of these
  };

  // The thing of that key. `make` is a function without arguments that returns Result<Made<Value>>.
  // Whoever asks while another makes it waits, and makes it itself if the other fails or is
  // cancelled. Errors: those of `make`; kCancelled.
  template <typename Key, typename Make>
  Result<std::shared_ptr<const typename Key::Value>> Get(const Key& key, const Job& job,
                                                         const Make& make) {
    using Value = typename Key::Value;
    const Same same = [](const void* a, const void* b) {
      return *static_cast<const Key*>(a) == *static_cast<const Key*>(b);
    };
    Claim claim(*this, std::make_shared<const Key>(key));
    JV_ASSIGN(const std::shared_ptr<const void> found, FindOrClaim(typeid(Key), same, job, &claim));
    if (found != nullptr) return std::static_pointer_cast<const Value>(found);
    JV_ASSIGN(Made<Value> made, make());
    claim.Keep(made.value, made.bytes);
    return std::move(made.value);
  }

  // Drops the least recently used of what nobody holds until at most so many bytes are kept.
  void Shrink(std::size_t bytes_max);

  Statistics statistics() const;
  std::size_t MemoryBytes() const { return statistics().bytes; }

 private:
  using Erased = std::shared_ptr<const void>;
  using Same = bool (*)(const void* a, const void* b);
  struct Slot {
    std::type_index type;  // of the key
    Erased key;
    Erased value;  // null: being made
    std::size_t bytes = 0;
    std::uint64_t used = 0;
  };
  // The right, and the duty, to make the value of a key: given back without a value when it ends.
  class Claim {
   public:
    Claim(DerivedCache& cache, Erased key) : cache_(cache), key_(std::move(key)) {}
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim();
    void Keep(Erased value, std::size_t bytes);

   private:
    friend class DerivedCache;
    DerivedCache& cache_;
    Erased key_;
    bool held_ = false;
  };

  // Null: the claim is held now.
  Result<Erased> FindOrClaim(std::type_index type, Same same, const Job& job, Claim* claim);
  Slot* SlotOf(const Erased& key);  // REQUIRES: the lock is held

  mutable std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  Statistics statistics_;
  std::uint64_t clock_ = 0;
};

}  // namespace jarvis::session
