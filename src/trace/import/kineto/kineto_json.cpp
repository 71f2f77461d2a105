#include "trace/import/kineto/kineto_json.h"

#include <utility>

#include "base/text.h"
#include "io/file_kind.h"
#include "trace/window_reader.h"

namespace jarvis::trace {
namespace {

Fit SniffKinetoJson(std::string_view head) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  head = Trim(head);
  const bool array = head.starts_with('[');
  if (!array && !head.starts_with('{')) return Fit::kNone;
  if (array ? head.find("\"ph\"") != std::string_view::npos
            : head.find("\"traceEvents\"") != std::string_view::npos)
    return Fit::kCertain;
  return io::TellFileKind(head) ? Fit::kNone : Fit::kPossible;
}

Result<ImportedTrace> ReadKinetoJson(const TraceInput& input, const ReadOptions& options,
                                     Job& job) {
  JV_ASSIGN(const auto bytes, input.Bytes(job));
  ImportedTrace read;
  JV_ASSIGN(read.trace, ReadTrace(*bytes, options, job));
  read.content_hash = bytes->content_hash();
  return read;
}

Result<Survey> SurveyKinetoJson(const TraceInput& input, const ReadOptions& options, Job& job) {
  JV_ASSIGN(const auto bytes, input.Bytes(job));
  return SurveyTrace(*bytes, options, job);
}

class KinetoElements : public TraceElements {
 public:
  KinetoElements(std::unique_ptr<io::ByteSource> bytes, std::uint64_t bytes_max, Job& job)
      : bytes_(std::move(bytes)), reader_(*bytes_, bytes_max, job) {}

  Result<bool> Next(SliceText* piece) override { return reader_.Next(piece); }
  std::vector<TopLevelValue> TakeValues() override { return std::move(reader_.slicer().values()); }
  std::string Damage() override {
    if (!bytes_->damage().empty()) return bytes_->damage();
    return reader_.slicer().complete() ? "" : "its text ends before its end";
  }
  std::uint64_t content_hash() override { return bytes_->content_hash(); }
  std::uint64_t consumed() const override { return bytes_->consumed(); }
  std::uint64_t file_size() const override { return bytes_->file_size(); }

 private:
  std::unique_ptr<io::ByteSource> bytes_;
  SliceReader reader_;
};

Result<std::unique_ptr<TraceElements>> ElementsOfKinetoJson(const TraceInput& input,
                                                            std::uint64_t bytes_max, Job& job) {
  JV_ASSIGN(auto bytes, input.Bytes(job));
  return std::make_unique<KinetoElements>(std::move(bytes), bytes_max, job);
}

}  // namespace

const Importer kKinetoJson = {
    .name = "kineto_json",
    .what = "JSON traces of torch.profiler",
    .one_file = true,
    .sniff = &SniffKinetoJson,
    .read = &ReadKinetoJson,
    .survey = &SurveyKinetoJson,
    .read_window = &ReadWindow,
    .elements = &ElementsOfKinetoJson,
};

}  // namespace jarvis::trace
