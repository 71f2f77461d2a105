#include "session/split_trace.h"

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "base/text.h"
#include "trace/dialect.h"
#include "trace/import/trace_file.h"
#include "trace/json_text.h"
#include "trace/rank_rewriter.h"

namespace jarvis::session {
namespace {

// What tells which part an element belongs to.
struct ElementFacts {
  std::string_view phase;
  bool gpu = false;
  std::optional<double> ts_us;
  std::optional<std::int64_t> launch;  // of GPU work and its arrow: what links it to its launch
};

std::string_view MembersOf(std::string_view object) {
  object = Trim(object);
  return object.size() < 2 ? std::string_view() : object.substr(1, object.size() - 2);
}

ElementFacts FactsOf(std::string_view element) {
  const std::string_view members = MembersOf(element);
  const auto value = [](std::string_view of, std::string_view key) {
    return trace::Unquoted(Trim(trace::MemberOf(of, key)));
  };
  ElementFacts facts;
  facts.phase = value(members, "ph");
  const trace::CategoryRule category = trace::FindCategory(value(members, "cat"));
  facts.gpu = trace::IsGpuWork(category.kind) || category.kind == trace::EventKind::kSync;
  if (const auto ts = trace::TimeOf(value(members, "ts")))
    facts.ts_us = ts->exact ? trace::MicrosOf(ts->ns) : ts->us;
  if (facts.gpu) {
    const std::string_view args = MembersOf(trace::MemberOf(members, "args"));
    facts.launch = trace::IntegerOf(value(args, "correlation"));
  } else if (category.flow == trace::FlowKind::kLaunch && facts.phase != "X") {
    facts.launch = trace::IntegerOf(value(members, "id"));
  }
  return facts;
}

class PartWriter {
 public:
  PartWriter(const LoadedTrace& trace, std::vector<TracePart>* parts)
      : parts_(*parts), texts_(parts->size()), rewriter_(AsWritten()) {
    const trace::EventStore& events = trace.events();
    for (trace::EventIndex e = 0; e < events.size(); ++e) {
      if (!trace::IsLaunchCall(events[e].kind)) continue;
      const std::int64_t link = events.args_of(e).correlation;
      if (link != trace::kAbsent) launched_us_.try_emplace(link, events.ts_us(e));
    }
  }

  Status Begin(const std::string& head) {
    for (TracePart& part : parts_)
      JV_TRY(part.out->Write(head));
    return {};
  }

  Status Add(std::string_view slice) {
    const std::string list = fmt::format("[{}]", slice);
    for (const std::string_view element : trace::ElementsOf(list)) {
      const ElementFacts facts = FactsOf(element);
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (!Belongs(facts, parts_[i])) continue;
        rewriter_.Add(element, &texts_[i]);
        if (facts.gpu && facts.phase == "X") ++parts_[i].gpu_events;
      }
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      JV_TRY(parts_[i].out->Write(texts_[i]));
      texts_[i].clear();
    }
    return {};
  }

  Status End() {
    for (TracePart& part : parts_) {
      JV_TRY(part.out->Write("\n]}\n"));
      JV_TRY(part.out->Close());
    }
    return {};
  }

 private:
  static trace::RankRewriter::Options AsWritten() {
    trace::RankRewriter::Options options;
    options.as_is = true;
    return options;
  }

  bool Belongs(const ElementFacts& facts, const TracePart& part) const {
    if (facts.phase == "M") return true;
    std::optional<double> when = facts.ts_us;
    if (facts.launch) {
      const auto launched = launched_us_.find(*facts.launch);
      if (launched != launched_us_.end()) when = launched->second;
    }
    return when && *when >= part.begin_us && *when < part.end_us;
  }

  std::vector<TracePart>& parts_;
  std::vector<std::string> texts_;
  trace::RankRewriter rewriter_;
  std::unordered_map<std::int64_t, double> launched_us_;  // by correlation
};

// Members about the whole recording, as far as they were understood.
std::string HeadOf(const trace::Metadata& metadata) {
  std::string text = "{\"schemaVersion\":1";
  for (const trace::TopLevelValue& value : metadata.values) {
    const bool known = (value.key == "deviceProperties" && !metadata.devices.empty()) ||
                       (value.key == "distributedInfo" && metadata.world_size);
    if (known) text += fmt::format(",\"{}\":{}", value.key, value.json);
    const auto base = value.key == "baseTimeNanoseconds" ? trace::IntegerOf(value.json)
                                                         : std::optional<std::int64_t>();
    if (base) text += fmt::format(",\"baseTimeNanoseconds\":{}", *base);
  }
  // An element before the first, so that all others start with a comma.
  return text + ",\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" +
         R"({"ph":"M","name":"split_by","pid":0,"tid":0,"args":{"name":"jarvis"}})";
}

}  // namespace

Status WriteTraceParts(const io::FilePolicy& files, const LoadedTrace& trace,
                       std::uint64_t trace_bytes_max, std::vector<TracePart>* parts, Job& job) {
  JV_ASSIGN(io::InputFile file, files.OpenInput(trace.path()));
  JV_ASSIGN(const trace::TraceFile opened, trace::TraceFile::Open(std::move(file), job));
  const std::uint64_t most =
      trace_bytes_max == 0 ? std::numeric_limits<std::uint64_t>::max() : trace_bytes_max;
  JV_ASSIGN(const auto elements, opened.Elements(most, job));
  trace::SliceText piece;
  PartWriter writer(trace, parts);
  JV_TRY(writer.Begin(HeadOf(trace.trace().metadata)));
  for (;;) {
    JV_ASSIGN(const bool more, elements->Next(&piece));
    if (!more) break;
    JV_TRY(writer.Add(piece.text()));
    job.Report(elements->consumed(), elements->file_size(), "splitting");
  }
  return writer.End();
}

}  // namespace jarvis::session
