#include "trace/import/shared/store_elements.h"

#include <iterator>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::trace {
namespace {

// Numbers are written as such.
std::string IdText(std::string_view id) {
  return ParseInt(id) ? std::string(id) : fmt::format("\"{}\"", Escape(id));
}

class StoreElements : public TraceElements {
 public:
  StoreElements(ImportedTrace read, std::uint64_t file_size)
      : read_(std::move(read)), file_size_(file_size) {
    const EventStore& store = read_.trace.events;
    for (const Track& track : store.tracks)
      places_.push_back(fmt::format("\"pid\":{},\"tid\":{}", IdText(track.pid), IdText(track.tid)));
    for (EventIndex e = 0; e < store.size(); ++e) {
      const std::int64_t id = store.args_of(e).correlation;
      if (IsLaunchCall(store[e].kind) && id != kAbsent) launched_.insert(id);
    }
  }

  Result<bool> Next(SliceText* piece) override {
    const EventStore& store = read_.trace.events;
    text_.clear();
    piece->first_uid = elements_;
    piece->elements = 0;
    while (text_.size() < limits::kSliceBytes && next_meta_ < store.meta_events.size())
      AddMeta(store.meta_events[next_meta_++], piece);
    while (text_.size() < limits::kSliceBytes && next_ < store.size())
      AddEvent(next_++, piece);
    if (piece->elements == 0) return false;
    elements_ += piece->elements;
    piece->text_size = text_.size();
    piece->buffer.assign(1 + text_.size() + EventDecoder::kPaddingBytes, '\0');
    std::copy(text_.begin(), text_.end(), piece->buffer.begin() + 1);
    return true;
  }

  std::vector<TopLevelValue> TakeValues() override {
    return std::move(read_.trace.metadata.values);
  }
  std::string Damage() override { return read_.trace.damage; }
  std::uint64_t content_hash() override { return read_.content_hash; }
  std::uint64_t consumed() const override {
    const EventIndex all = read_.trace.events.size();
    return all == 0 ? file_size_
                    : static_cast<std::uint64_t>(static_cast<double>(file_size_) * next_ / all);
  }
  std::uint64_t file_size() const override { return file_size_; }

 private:
  template <typename... Values>
  void Write(fmt::format_string<Values...> form, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), form, std::forward<Values>(values)...);
  }
  void Begin(SliceText* piece) {
    if (!text_.empty()) text_ += ",\n";
    ++piece->elements;
  }
  static std::string Micros(std::int64_t ns) {
    const char* sign = ns < 0 ? "-" : "";
    const std::uint64_t size =
        ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    return fmt::format("{}{}.{:03}", sign, size / 1000, size % 1000);
  }
  // Pairs end with a comma.
  static std::string_view WithoutComma(std::string_view pairs) {
    if (pairs.ends_with(',')) pairs.remove_suffix(1);
    return pairs;
  }

  void AddMeta(const MetaEvent& meta, SliceText* piece) {
    const EventStore& store = read_.trace.events;
    Begin(piece);
    Write("{{\"ph\":\"M\",\"name\":\"{}\",{},\"ts\":0,\"args\":{{{}}}}}",
          Escape(store.strings[meta.name]), places_[meta.track],
          WithoutComma(store.text(meta.args)));
  }

  void AddEvent(EventIndex e, SliceText* piece) {
    const EventStore& store = read_.trace.events;
    const Event& event = store[e];
    const Args& args = store.args_of(e);
    Begin(piece);
    const std::int64_t dur = store.recorded_duration_ns(e);
    Write("{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":\"{}\",{},\"ts\":{},\"dur\":{},\"args\":{{",
          store.categories[event.category], Escape(store.name(e)), places_[event.track],
          Micros(event.ts_ns), Micros(dur));
    std::string pairs(store.text(args.other));
    const auto number = [&](const char* key, std::int64_t value) {
      if (value != kAbsent) pairs += fmt::format("\"{}\": {},", key, value);
    };
    number("correlation", args.correlation);
    number("stream", args.stream);
    number("External id", args.external_id);
    number("Sequence number", args.sequence);
    for (const auto& [key, id] :
         {std::pair("Input Dims", args.dims), std::pair("Input Strides", args.strides),
          std::pair("Input type", args.types), std::pair("Concrete Inputs", args.concrete)}) {
      if (id != kNoString) pairs += fmt::format("\"{}\": {},", key, store.strings[id]);
    }
    Write("{}}}}}", WithoutComma(pairs));
    if (args.correlation == kAbsent) return;
    if (IsLaunchCall(event.kind)) AddArrow('s', "", e, piece);
    if (IsGpuWork(event.kind) && launched_.contains(args.correlation))
      AddArrow('f', ",\"bp\":\"e\"", e, piece);
  }

  void AddArrow(char phase, const char* more, EventIndex e, SliceText* piece) {
    const EventStore& store = read_.trace.events;
    Begin(piece);
    Write("{{\"ph\":\"{}\",\"id\":{},{},\"ts\":{},\"cat\":\"ac2g\",\"name\":\"ac2g\"{}}}", phase,
          store.args_of(e).correlation, places_[store[e].track], Micros(store[e].ts_ns), more);
  }

  ImportedTrace read_;
  std::uint64_t file_size_;
  std::vector<std::string> places_;  // by track
  std::unordered_set<std::int64_t> launched_;
  std::string text_;
  std::size_t next_meta_ = 0;
  EventIndex next_ = 0;
  std::uint64_t elements_ = 0;
};

}  // namespace

std::unique_ptr<TraceElements> ElementsOfStore(ImportedTrace read, std::uint64_t file_size) {
  return std::make_unique<StoreElements>(std::move(read), file_size);
}

}  // namespace jarvis::trace
