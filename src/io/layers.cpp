#include "io/layers.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "io/archive_reader.h"
#include "io/gzip_source.h"
#include "io/utf16_source.h"

namespace jarvis::io {
namespace {

// A file that somebody packed: ".tar.zst" with ".json.gz" in it has three.
constexpr std::size_t kLayersMax = 5;

// Bytes that are in memory already.
class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> Read(std::span<char> buffer) override {
    const std::size_t bytes = std::min(buffer.size(), text_.size() - at_);
    std::memcpy(buffer.data(), text_.data() + at_, bytes);
    at_ += bytes;
    return bytes;
  }
  std::uint64_t consumed() const override { return at_; }
  std::uint64_t file_size() const override { return text_.size(); }
  std::uint64_t content_hash() override { return 0; }
  const std::string& damage() const override { return damage_; }
  bool compressed() const override { return false; }

 private:
  std::string text_;
  std::size_t at_ = 0;
  std::string damage_;
};

// A source whose beginning was looked at already.
class HeadedSource : public ByteSource {
 public:
  HeadedSource(std::string head, std::unique_ptr<ByteSource> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}
  Result<std::size_t> Read(std::span<char> buffer) override {
    if (at_ == head_.size()) return rest_->Read(buffer);
    const std::size_t bytes = std::min(buffer.size(), head_.size() - at_);
    std::memcpy(buffer.data(), head_.data() + at_, bytes);
    at_ += bytes;
    return bytes;
  }
  std::uint64_t consumed() const override { return rest_->consumed(); }
  std::uint64_t file_size() const override { return rest_->file_size(); }
  std::uint64_t content_hash() override { return rest_->content_hash(); }
  const std::string& damage() const override { return rest_->damage(); }
  bool compressed() const override { return rest_->compressed(); }

 private:
  const std::string head_;
  std::size_t at_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

// Passes over the files before the one that is meant.
Result<std::unique_ptr<ByteSource>> FileIn(std::unique_ptr<ArchiveReader> reader,
                                           const Layer& layer) {
  for (;;) {
    JV_ASSIGN(const std::optional<ArchiveReader::Entry> entry, reader->Next());
    if (!entry) break;
    if (HoldsFiles(layer.packing) && (!entry->is_file || entry->name != layer.member)) continue;
    if (entry->encrypted) {
      return Fail(ErrorCode::kNotATrace,
                  fmt::format("the file \"{}\" in the archive is encrypted",
                              Shortened(OneLine(layer.member), 200)),
                  "unpack the archive with its password and give the result");
    }
    return std::make_unique<ArchiveFileSource>(std::move(reader));
  }
  // Of a damaged file that holds one stream: nothing, and why.
  if (!HoldsFiles(layer.packing)) return std::make_unique<ArchiveFileSource>(std::move(reader));
  const std::string& damage = reader->damage();
  return Fail(ErrorCode::kTraceNotFound,
              fmt::format("{} without a file \"{}\"{}", NameOf(layer.packing),
                          Shortened(OneLine(layer.member), 200),
                          damage.empty() ? "" : ", as far as it can be read: " + damage),
              "give a name as the archive has it; load_trace with the archive alone lists them");
}

Result<std::unique_ptr<ByteSource>> UnpackFrom(std::unique_ptr<ByteSource> bytes, PlainSource* file,
                                               const Layers& layers, const Job* job) {
  for (const Layer& layer : layers) {
    if (layer.packing == Packing::kGzip) {
      bytes = std::make_unique<GzipSource>(std::move(bytes), file);
    } else if (layer.packing == Packing::kUtf16) {
      bytes = std::make_unique<Utf16Source>(std::move(bytes));
    } else {
      JV_ASSIGN(bytes,
                FileIn(std::make_unique<ArchiveReader>(layer.packing, std::move(bytes), file, job),
                       layer));
    }
    file = nullptr;
  }
  return bytes;
}

// The layers can be undone from the file's begin alone.
class LayeredPoint : public RestartPoint {
 public:
  explicit LayeredPoint(Layers layers) : layers_(std::move(layers)) {}
  Result<std::unique_ptr<ByteSource>> Open(InputFile input) const override {
    return Unpack(std::move(input), layers_, nullptr);
  }
  std::size_t MemoryBytes() const override {
    std::size_t bytes = sizeof(*this) + layers_.capacity() * sizeof(Layer);
    for (const Layer& layer : layers_)
      bytes += layer.member.capacity();
    return bytes;
  }

 private:
  Layers layers_;
};

class LayeredSource : public ByteSource {
 public:
  LayeredSource(std::unique_ptr<ByteSource> top, Layers layers)
      : top_(std::move(top)), layers_(std::move(layers)) {}
  Result<std::size_t> Read(std::span<char> buffer) override {
    begun_ = true;
    return top_->Read(buffer);
  }
  std::uint64_t consumed() const override { return top_->consumed(); }
  std::uint64_t file_size() const override { return top_->file_size(); }
  std::uint64_t content_hash() override { return top_->content_hash(); }
  const std::string& damage() const override { return top_->damage(); }
  bool compressed() const override { return top_->compressed(); }
  std::unique_ptr<const RestartPoint> Mark() const override {
    if (begun_) return nullptr;
    return std::make_unique<LayeredPoint>(layers_);
  }

 private:
  std::unique_ptr<ByteSource> top_;
  Layers layers_;
  bool begun_ = false;
};

Status AddLayer(Packing packing, Layers* layers) {
  if (layers->size() == kLayersMax) {
    return Fail(ErrorCode::kNotATrace, fmt::format("it is packed more than {} times", kLayersMax),
                "unpack it and give the result");
  }
  layers->push_back({packing});
  return {};
}

}  // namespace

Result<std::string> HeadOf(ByteSource& source, std::size_t bytes_max) {
  std::string head(bytes_max, '\0');
  std::size_t filled = 0;
  while (filled < bytes_max) {
    JV_ASSIGN(const std::size_t got, source.Read({head.data() + filled, bytes_max - filled}));
    if (got == 0) break;
    filled += got;
  }
  head.resize(filled);
  return head;
}

Result<std::unique_ptr<ByteSource>> Unpack(InputFile input, const Layers& layers, const Job* job) {
  auto bytes = std::make_unique<PlainSource>(std::move(input));
  PlainSource* const file = bytes.get();
  JV_ASSIGN(std::unique_ptr<ByteSource> top, UnpackFrom(std::move(bytes), file, layers, job));
  const bool marks = layers.empty() || (layers.size() == 1 && layers[0].packing == Packing::kGzip);
  if (marks) return top;
  return std::make_unique<LayeredSource>(std::move(top), layers);
}

std::string UnpackedHead(std::string raw, std::size_t bytes_max) {
  Layers layers;
  for (;;) {
    auto bytes = UnpackFrom(std::make_unique<TextSource>(raw), nullptr, layers, nullptr);
    if (!bytes) return {};
    const std::string head = HeadOf(**bytes, bytes_max).value_or("");
    const Packing packing = TellPacking(head);
    if (packing == Packing::kNone || HoldsFiles(packing) || !AddLayer(packing, &layers))
      return head;
  }
}

Result<FileLook> LookAt(const InputFile& input, std::size_t head_bytes) {
  const std::size_t bytes = std::max(head_bytes, kPackingHeadBytes);
  // gzip gives its first bytes for little; what else needs more gets the file.
  constexpr std::size_t kRawBytes = std::size_t{32} << 10;
  JV_ASSIGN(InputFile first, AnotherOf(input));
  PlainSource plain(std::move(first));
  JV_ASSIGN(const std::string raw, HeadOf(plain, std::max(bytes, kRawBytes)));
  if (raw.empty())
    return Fail(ErrorCode::kNotATrace, fmt::format("\"{}\" is empty (0 bytes)", input.given));
  FileLook look;
  look.head = raw;
  for (;;) {
    const Packing packing = TellPacking(look.head);
    if (packing == Packing::kNone) break;
    JV_TRY(AddLayer(packing, &look.layers));
    if (HoldsFiles(packing)) break;
    std::unique_ptr<ByteSource> source;
    if (std::all_of(look.layers.begin(), look.layers.end(),
                    [](const Layer& layer) { return layer.packing == Packing::kGzip; })) {
      JV_ASSIGN(source,
                UnpackFrom(std::make_unique<TextSource>(raw), nullptr, look.layers, nullptr));
    } else {
      JV_ASSIGN(InputFile again, AnotherOf(input));
      JV_ASSIGN(source, Unpack(std::move(again), look.layers, nullptr));
    }
    JV_ASSIGN(look.head, HeadOf(*source, bytes));
  }
  if (look.head.size() > bytes) look.head.resize(bytes);
  return look;
}

Result<std::unique_ptr<ByteSource>> UnpackMember(InputFile input, Layers layers, const Job* job) {
  auto plain = std::make_unique<PlainSource>(std::move(input));
  PlainSource* const file = plain.get();
  JV_ASSIGN(std::unique_ptr<ByteSource> bytes, UnpackFrom(std::move(plain), file, layers, job));
  for (;;) {
    JV_ASSIGN(std::string head, HeadOf(*bytes, kPackingHeadBytes));
    const Packing packing = TellPacking(head);
    bytes = std::make_unique<HeadedSource>(std::move(head), std::move(bytes));
    if (packing == Packing::kNone || HoldsFiles(packing)) break;
    JV_TRY(AddLayer(packing, &layers));
    JV_ASSIGN(bytes, UnpackFrom(std::move(bytes), nullptr, {layers.back()}, job));
  }
  return std::make_unique<LayeredSource>(std::move(bytes), std::move(layers));
}

}  // namespace jarvis::io
