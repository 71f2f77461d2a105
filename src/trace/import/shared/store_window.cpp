#include "trace/import/shared/store_window.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trace/import/shared/make_trace.h"
#include "trace/import/shared/store_elements.h"
#include "trace/json_text.h"
#include "trace/window_reader.h"

namespace jarvis::trace {
namespace {

// What an importer read, as the text that torch.profiler would have written of it.
class WholeSource : public io::ByteSource {
 public:
  WholeSource(const Importer& importer, const TraceInput& input, ImportedTrace read)
      : importer_(importer),
        layers_(input.layers),
        member_(input.member),
        file_size_(input.file.size),
        hash_(read.content_hash),
        damage_(read.trace.damage) {
    text_ = "{";
    for (const TopLevelValue& value : read.trace.metadata.values)
      text_ += fmt::format("\"{}\":{},", Escape(value.key), value.json);
    text_ += "\"traceEvents\":[\n";
    elements_ = ElementsOfStore(std::move(read), file_size_);
  }

  static Result<std::unique_ptr<io::ByteSource>> Open(const Importer& importer,
                                                      const TraceInput& input,
                                                      const ReadOptions& options, Job& job) {
    JV_ASSIGN(ImportedTrace read, importer.read(input, options, job));
    return std::make_unique<WholeSource>(importer, input, std::move(read));
  }

  Result<std::size_t> Read(std::span<char> buffer) override {
    while (at_ == text_.size() && !ended_) {
      SliceText piece;
      JV_ASSIGN(const bool more, elements_->Next(&piece));
      text_ = more ? (any_ ? ",\n" : "") + std::string(piece.text()) : "\n]}\n";
      any_ = true;
      ended_ = !more;
      at_ = 0;
    }
    const std::size_t bytes = std::min(buffer.size(), text_.size() - at_);
    std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(at_), bytes, buffer.begin());
    at_ += bytes;
    begun_ = begun_ || bytes > 0;
    return bytes;
  }

  std::uint64_t consumed() const override { return elements_->consumed(); }
  std::uint64_t file_size() const override { return file_size_; }
  std::uint64_t content_hash() override { return hash_; }
  const std::string& damage() const override { return damage_; }
  bool compressed() const override { return false; }
  // From the begin alone.
  std::unique_ptr<const io::RestartPoint> Mark() const override {
    if (begun_) return nullptr;
    return std::make_unique<Begin>(importer_, layers_, member_);
  }

 private:
  class Begin : public io::RestartPoint {
   public:
    Begin(const Importer& importer, io::Layers layers, std::string member)
        : importer_(importer), layers_(std::move(layers)), member_(std::move(member)) {}
    Result<std::unique_ptr<io::ByteSource>> Open(io::InputFile input) const override {
      Job job;
      return WholeSource::Open(importer_, {std::move(input), layers_, member_}, {}, job);
    }
    std::size_t MemoryBytes() const override { return sizeof(*this); }

   private:
    const Importer& importer_;
    io::Layers layers_;
    std::string member_;
  };

  const Importer& importer_;
  io::Layers layers_;
  std::string member_;
  std::uint64_t file_size_;
  std::uint64_t hash_;
  std::string damage_;
  std::unique_ptr<TraceElements> elements_;
  std::string text_;  // of which Read has given at_ bytes
  std::size_t at_ = 0;
  bool begun_ = false;
  bool any_ = false;
  bool ended_ = false;
};

}  // namespace

Result<Survey> SurveyWhole(const Importer& importer, const TraceInput& input,
                           const ReadOptions& options, Job& job) {
  JV_ASSIGN(const auto bytes, WholeSource::Open(importer, input, options, job));
  return SurveyTrace(*bytes, options, job);
}

Result<Trace> WindowOfWhole(const io::InputFile& file, const Survey& survey,
                            const TraceWindow& window, const ReadOptions& options, Job& job) {
  JV_ASSIGN(Trace trace, ReadWindow(file, survey, window, options, job));
  for (const TopLevelValue& value : trace.metadata.values) {
    if (value.key == kRecorderKey) trace.events.dialect.SetRecorder(Unescape(Unquoted(value.json)));
  }
  return trace;
}

}  // namespace jarvis::trace
