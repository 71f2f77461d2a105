#include "session/trace_image.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "base/build_id.h"
#include "base/check.h"

namespace jarvis::session {
namespace {

constexpr std::array<char, 16> kMagic = {'j', 'a', 'r', 'v', 'i',  's',  ' ',  't',
                                         'r', 'a', 'c', 'e', '\0', '\r', '\n', '\x1a'};
}  // namespace

// Its own hash is of all that comes before it.
struct TraceImage::Header {
  std::array<char, 16> magic = kMagic;
  std::array<char, 64> build{};
  std::uint64_t body_bytes = 0;
  std::uint64_t body_hash = 0;
  std::uint64_t padding[3] = {};
  std::uint64_t hash = 0;

  std::uint64_t Hash() const {
    return HashText({reinterpret_cast<const char*>(this), offsetof(Header, hash)});
  }
};

const std::string& TraceImage::Build() {
  static const std::string build = [] {
    std::string id = BuildId();
    id.resize(std::min(id.size(), Header().build.size()));
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

TraceImage::TraceImage(const LoadedTrace& trace) : header_(sizeof(Header)) {
  EachPart(trace, body_);
  Header header;
  std::copy(Build().begin(), Build().end(), header.build.begin());
  header.body_bytes = body_.bytes();
  header.body_hash = body_.Hash();
  header.hash = header.Hash();
  std::memcpy(header_.data(), &header, sizeof header);
}

std::vector<std::span<const std::byte>> TraceImage::Pieces() const& {
  std::vector<std::span<const std::byte>> pieces = {header_};
  pieces.insert(pieces.end(), body_.pieces().begin(), body_.pieces().end());
  return pieces;
}

std::shared_ptr<LoadedTrace> TraceImage::Read(io::MappedFile file) {
  Header header;
  if (file.bytes().size() < sizeof header || Build().empty()) return nullptr;
  std::memcpy(&header, file.bytes().data(), sizeof header);
  const std::span<const std::byte> body = file.bytes().subspan(sizeof header);
  if (header.magic != kMagic || header.hash != header.Hash() ||
      Build() != std::string_view(header.build.data(), Build().size()) ||
      header.body_bytes != body.size() || header.body_hash != HashOfImage(body))
    return nullptr;
  auto trace = std::make_shared<LoadedTrace>();
  trace->image_ = std::move(file);
  ImageReader reader(body);
  EachPart(*trace, reader);
  return reader.good() && reader.at_end() ? trace : nullptr;
}

void TraceImage::Name(LoadedTrace* trace, std::string path, std::string id) {
  trace->path_ = std::move(path);
  trace->id_ = std::move(id);
}

}  // namespace jarvis::session
