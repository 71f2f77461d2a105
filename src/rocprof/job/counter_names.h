// Which counters an architecture has, in which hardware block, and how many of a block fit in one
// pass.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.h"
#include "base/result.h"

namespace jarvis::rocprof {

std::span<const EmbeddedFile> CounterFiles();  // counters.json

class CounterNames {
 public:
  // "gfx942", also with features ("gfx942:sramecc+"). Errors: kBadValue with those that are known.
  static Result<CounterNames> For(std::string_view arch);

  // The basic counters that one takes: itself, or those a derived one is made of. Suffixes of sums
  // over instances and instance numbers do not count. Empty: not listed.
  std::vector<std::string> BasicsOf(std::string_view counter) const;
  // The hardware block, by the name's beginning; empty: none of those with a limit.
  std::string BlockOf(std::string_view basic) const;
  std::size_t LimitOf(std::string_view block) const;
  // The listed name that is most like it; empty: none is close.
  std::string ClosestTo(std::string_view counter) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> basics_;
  std::map<std::string, std::size_t, std::less<>> limits_;
};

// Counters in passes that the hardware can collect, in order: each goes to the first pass that has
// room for all it takes. One that no pass has room for gets a pass of its own.
std::vector<std::vector<std::string>> SplitIntoPasses(const CounterNames& names,
                                                      const std::vector<std::string>& counters);

}  // namespace jarvis::rocprof
