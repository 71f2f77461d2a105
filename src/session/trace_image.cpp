#include "session/trace_image.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/build_id.h"

namespace jarvis::session {
namespace {

// What an image begins with.
using BuildText = std::array<char, 64>;

BuildText BuildOf(const std::string& build) {
  BuildText text{};
  std::copy(build.begin(), build.end(), text.begin());
  return text;
}

}  // namespace

const std::string& TraceImage::Build() {
  static const std::string build = [] {
    std::string id = BuildId();
    id.resize(std::min(id.size(), BuildText().size()));
    return id;
  }();
  return build;
}

template <typename Self, typename Image>
void TraceImage::AttributionParts(Self& attribution, Image& image) {
  image(attribution.clock);
  image(attribution.timeline);
  image(attribution.kernels);
  image(attribution.places);
  image(attribution.cpu_ops);
  image(attribution.launchers);
  image(attribution.categories);
}

template <typename Self, typename Image>
void TraceImage::EachPart(Self& trace, Image& image) {
  image(trace.file_bytes_);
  image(trace.content_hash_);
  trace::EventStore::EachPart(trace.trace_.events, image);
  image(trace.trace_.damage);
  image(trace.trace_.partial);
  // All of the metadata is told by its members; the names of tracks by events about them.
  std::vector<std::string_view> keys;
  std::vector<std::string_view> values;
  if constexpr (!Image::kReads) {
    for (const trace::TopLevelValue& value : trace.trace_.metadata.values) {
      keys.push_back(value.key);
      values.push_back(value.json);
    }
  }
  image(keys);
  image(values);
  if constexpr (Image::kReads) {
    std::vector<trace::TopLevelValue> members;
    for (std::size_t i = 0; i < keys.size() && i < values.size(); ++i)
      members.push_back({std::string(keys[i]), std::string(values[i])});
    trace.trace_.metadata = trace::ReadMetadata(std::move(members));
    trace.trace_.track_names = trace::ReadTrackNames(trace.trace_.events);
  }
  tree::CallTree::EachPart(trace.tree_, image);
  AttributionParts(trace.attribution_, image);
  image(trace.coverage_);
  image(trace.timeline_);
  image(trace.steps_);
  image(trace.recorded_);
  image(trace.recorded_end_);
}

TraceImage::TraceImage(const LoadedTrace& trace) {
  body_(BuildOf(Build()));
  EachPart(trace, body_);
}

const std::vector<std::span<const std::byte>>& TraceImage::Pieces() const& {
  return body_.pieces();
}

std::shared_ptr<LoadedTrace> TraceImage::Read(io::CachedBytes bytes) {
  if (Build().empty()) return nullptr;
  ImageReader reader(bytes.bytes());
  BuildText build{};
  reader(build);
  if (!reader.good() || build != BuildOf(Build())) return nullptr;
  auto trace = std::make_shared<LoadedTrace>();
  EachPart(*trace, reader);
  if (!reader.good() || !reader.at_end()) return nullptr;
  trace->image_ = std::move(bytes);
  return trace;
}

void TraceImage::Name(LoadedTrace* trace, std::string path, std::string id) {
  trace->path_ = std::move(path);
  trace->id_ = std::move(id);
}

}  // namespace jarvis::session
