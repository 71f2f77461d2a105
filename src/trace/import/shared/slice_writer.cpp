#include "trace/import/shared/slice_writer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/limits.h"
#include "trace/json_text.h"
#include "trace/store_builder.h"

namespace jarvis::trace {

void ArgText::Text(std::string_view key, std::string_view value) {
  Raw(key, fmt::format("\"{}\"", Escape(ValidUtf8(value))));
}

void ArgText::Number(std::string_view key, std::int64_t value) {
  Raw(key, fmt::format("{}", value));
}

void ArgText::Number(std::string_view key, double value) {
  if (std::isfinite(value)) Raw(key, fmt::format("{}", value));
}

void ArgText::Raw(std::string_view key, std::string_view json) {
  // Keys are a file's own words, too.
  const bool plain =
      std::ranges::all_of(key, [](char c) { return c >= ' ' && c != '"' && c != '\\'; });
  text_ += '"';
  if (plain) {
    text_ += key;
  } else {
    text_ += Escape(ValidUtf8(key));
  }
  text_.append("\": ").append(json).append(1, ',');
}

StringId SliceWriter::Name(std::string_view text) {
  // Names in a slice are as JSON writes them, for as long as they have a backslash.
  const bool plain = std::ranges::all_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x80 && c != '\\'; });
  if (!plain) {
    bool changed = false;
    clean_ = ValidUtf8(text, &changed);
    if (changed) slice_.oddities.Count(Oddity::kBadUtf8, slice_.events.size());
    if (clean_.find('\\') != std::string::npos) clean_ = Escape(clean_);
    text = clean_;
  }
  if (text.size() <= limits::kNameBytesMax) return slice_.names.Intern(text);
  slice_.oddities.Count(Oddity::kLongName, slice_.events.size());
  return slice_.names.Intern(CutName(text, limits::kNameBytesMax));
}

std::uint32_t SliceWriter::Track(std::string_view pid, std::string_view tid) {
  const std::string key = fmt::format("{}{}{}", pid, '\0', tid);
  const StringId id = slice_.track_keys.Intern(key);
  if (id == slice_.tracks.size()) slice_.tracks.push_back({Name(pid), Name(tid)});
  return id;
}

void SliceWriter::NameProcess(std::uint32_t track, std::string_view name, std::string_view label) {
  ArgText args;
  args.Text("name", name);
  slice_.meta_events.push_back({track, Name("process_name"), Raw(args.text())});
  args.Clear();
  args.Text("labels", label);
  slice_.meta_events.push_back({track, Name("process_labels"), Raw(args.text())});
}

void SliceWriter::NameThread(std::uint32_t track, std::string_view name) {
  ArgText args;
  args.Text("name", name);
  slice_.meta_events.push_back({track, Name("thread_name"), Raw(args.text())});
}

std::uint8_t SliceWriter::Category(EventKind kind, bool amd) {
  const auto text = [&]() -> std::string_view {
    switch (kind) {
      case EventKind::kCpuOp: return "cpu_op";
      case EventKind::kUserAnnotation: return "user_annotation";
      case EventKind::kPythonFunction: return "python_function";
      case EventKind::kRuntime: return amd ? "hip_runtime" : "cuda_runtime";
      case EventKind::kDriver: return amd ? "hip_driver" : "cuda_driver";
      case EventKind::kKernel: return "kernel";
      case EventKind::kMemcpy: return "gpu_memcpy";
      case EventKind::kMemset: return "gpu_memset";
      case EventKind::kGpuAnnotation: return "gpu_user_annotation";
      case EventKind::kSync: return "cuda_sync";
      case EventKind::kOverhead: return "overhead";
      case EventKind::kOther: break;
    }
    return "cpu_instant_event";
  }();
  const StringId name = slice_.names.Intern(text);
  auto& categories = slice_.categories;
  const auto found = std::ranges::find(categories, name, &DecodedSlice::LocalCategory::name);
  if (found == categories.end()) {
    categories.push_back({name, FindCategory(text)});
    return static_cast<std::uint8_t>(categories.size() - 1);
  }
  return static_cast<std::uint8_t>(found - categories.begin());
}

Event* SliceWriter::AddPs(EventKind kind, std::uint8_t category, std::uint32_t track, StringId name,
                          std::int64_t ts_ps, std::int64_t dur_ps) {
  constexpr std::int64_t kPsPerNs = 1000;
  const auto nearest = [](std::int64_t ps) {
    const std::int64_t down = ps / kPsPerNs - (ps % kPsPerNs < 0 ? 1 : 0);
    return down + (ps - down * kPsPerNs >= kPsPerNs / 2 ? 1 : 0);
  };
  const std::int64_t begin = nearest(ts_ps);
  Event* event = AddNs(kind, category, track, name, begin, nearest(ts_ps + dur_ps) - begin);
  if (ts_ps % kPsPerNs != 0 || dur_ps % kPsPerNs != 0) {
    constexpr double kPsPerUs = 1e6;
    event->flags |= kInexact;
    slice_.inexact.push_back({event->uid, static_cast<double>(ts_ps) / kPsPerUs,
                              static_cast<double>(dur_ps) / kPsPerUs});
  }
  return event;
}

Result<Column<char>> ReadAll(io::ByteSource& bytes, std::uint64_t bytes_max, Job& job) {
  constexpr std::size_t kPieceBytes = std::size_t{4} << 20;
  Column<char> all;
  if (!bytes.compressed()) all.reserve_whole(std::min(bytes.file_size(), bytes_max) + kPieceBytes);
  for (;;) {
    JV_TRY(job.Check());
    const std::size_t before = all.size();
    char* const piece = all.append_unset(kPieceBytes);
    JV_ASSIGN(const std::size_t got, bytes.Read({piece, kPieceBytes}));
    all.truncate(before + got);
    if (got == 0) return all;
    if (all.size() > bytes_max) {
      return Fail(ErrorCode::kTooLarge, fmt::format("more than {} bytes in one trace", bytes_max),
                  "a server reads more with --max-trace-bytes BYTES");
    }
    if (bytes.compressed()) JV_TRY(io::CheckExpansion(bytes.consumed(), all.size()));
    job.Report(bytes.consumed(), bytes.file_size(), "reading");
  }
}

Status CheckPackedOnce(const TraceInput& input) {
  for (std::size_t i = 1; i < input.layers.size(); ++i) {
    if (input.layers[i].packing == io::Packing::kGzip &&
        input.layers[i - 1].packing == io::Packing::kGzip)
      return Fail(ErrorCode::kNotATrace, "it is gzip inside gzip", "unpack it once");
  }
  return {};
}

Result<EventStore> StoreOf(std::vector<DecodedSlice> slices) {
  EventStore store;
  StoreBuilder builder(&store);
  std::uint64_t events = 0, args = 0;
  for (const DecodedSlice& slice : slices) {
    events += slice.events.size();
    args += slice.args.size();
  }
  const auto too_many = [&] {
    return Fail(ErrorCode::kTooLarge, fmt::format("{} events in one trace are too many", events));
  };
  if (events >= limits::kEventsMax) return too_many();
  store.events.reserve_whole(events);
  store.args.reserve_whole(args);
  std::uint32_t first = 0;
  for (DecodedSlice& slice : slices) {
    for (Event& event : slice.events)
      event.uid += first;
    first += static_cast<std::uint32_t>(slice.events.size());
    if (!builder.Append(slice)) return too_many();
    slice = DecodedSlice();
  }
  builder.Finish();
  store.elements = events;
  return store;
}

}  // namespace jarvis::trace
