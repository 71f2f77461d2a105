// A loaded trace as bytes that are used where they lie: all that loading makes of a file, so that
// it need not be made again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/image.h"
#include "io/cache_folder.h"
#include "session/loaded_trace.h"

namespace jarvis::session {

class TraceImage {
 public:
  // Refers to the trace, which must outlive it.
  explicit TraceImage(const LoadedTrace& trace);
  // In order; they lie in this and in the trace.
  const std::vector<std::span<const std::byte>>& Pieces() const&;
  const std::vector<std::span<const std::byte>>& Pieces() const&& = delete;

  // The trace that was written as these bytes by this very build of the program; io::CacheFolder
  // makes sure that nobody else wrote them. Its path is empty and its id is not chosen. Null: they
  // are another build's, or not whole.
  static std::shared_ptr<LoadedTrace> Read(io::CachedBytes bytes);
  // Fills in what an image does not say.
  static void Name(LoadedTrace* trace, std::string path, std::string id);

  // What other images of this build have in common; empty: this build keeps none.
  static const std::string& Build();

 private:
  template <typename Self, typename Image>
  static void EachPart(Self& trace, Image& image);
  template <typename Self, typename Image>
  static void AttributionParts(Self& attribution, Image& image);

  ImageWriter body_;
};

}  // namespace jarvis::session
