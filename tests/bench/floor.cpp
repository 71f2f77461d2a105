#include "bench/floor.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <simdjson.h>
#include <zlib.h>

#include "bench/event_windows.h"

namespace jarvis::bench {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr int kGzip = 15 + 32;  // zlib: find out whether the header is gzip's or zlib's

using Clock = std::chrono::steady_clock;
using Sink = std::function<void(std::string_view)>;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void Fail(const std::string& path, const std::string& what) {
  throw std::runtime_error(path + ": " + what);
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

File OpenFile(const std::string& path) {
  File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) Fail(path, "cannot be opened");
  std::setvbuf(file.get(), nullptr, _IONBF, 0);
  return file;
}

bool IsGzip(const std::string& path) {
  const File file = OpenFile(path);
  std::array<unsigned char, 2> magic{};
  return std::fread(magic.data(), 1, 2, file.get()) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

std::int64_t ReadPlain(const std::string& path, const Sink& sink) {
  const File file = OpenFile(path);
  std::vector<char> block(kBlockBytes);
  std::int64_t total = 0;
  while (const std::size_t size = std::fread(block.data(), 1, block.size(), file.get())) {
    total += static_cast<std::int64_t>(size);
    if (sink) sink({block.data(), size});
  }
  return total;
}

class Inflater {
 public:
  explicit Inflater(const std::string& path) : path_(path) {
    if (inflateInit2(&stream_, kGzip) != Z_OK) Fail(path_, "cannot start zlib");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  std::int64_t Run(const Sink& sink) {
    const File file = OpenFile(path_);
    std::vector<unsigned char> in(kBlockBytes);
    std::vector<unsigned char> out(kBlockBytes);
    std::int64_t total = 0;
    int state = Z_OK;
    while (const std::size_t size = std::fread(in.data(), 1, in.size(), file.get())) {
      stream_.next_in = in.data();
      stream_.avail_in = static_cast<uInt>(size);
      do {
        if (state == Z_STREAM_END) inflateReset(&stream_);
        stream_.next_out = out.data();
        stream_.avail_out = static_cast<uInt>(out.size());
        state = inflate(&stream_, Z_NO_FLUSH);
        if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
          Fail(path_, "is not gzip all through");
        const std::size_t made = out.size() - stream_.avail_out;
        total += static_cast<std::int64_t>(made);
        if (sink && made > 0) sink({reinterpret_cast<const char*>(out.data()), made});
      } while (stream_.avail_in > 0 || stream_.avail_out == 0);
    }
    if (state != Z_STREAM_END) Fail(path_, "ends in the middle of gzip");
    return total;
  }

 private:
  const std::string& path_;
  z_stream stream_{};
};

std::int64_t Unpack(const std::string& path, bool gzip, const Sink& sink) {
  return gzip ? Inflater(path).Run(sink) : ReadPlain(path, sink);
}

// Looks at every value below; the sum keeps the compiler from leaving it out.
std::size_t VisitValue(simdjson::ondemand::value value) {
  using simdjson::ondemand::json_type;
  std::size_t sum = 1;
  switch (json_type(value.type())) {
    case json_type::array:
      for (auto one : value.get_array())
        sum += VisitValue(one.value());
      break;
    case json_type::object:
      for (auto field : value.get_object()) {
        sum += std::string_view(field.unescaped_key()).size();
        sum += VisitValue(field.value());
      }
      break;
    case json_type::number: {
      const simdjson::ondemand::number number = value.get_number();
      sum += number.is_double() ? static_cast<std::size_t>(number.get_double() != 0) : 1;
      break;
    }
    case json_type::string: sum += std::string_view(value.get_string()).size(); break;
    case json_type::boolean: sum += static_cast<std::size_t>(bool(value.get_bool())); break;
    case json_type::null: break;
  }
  return sum;
}

std::size_t VisitDocument(simdjson::ondemand::document& document) {
  using simdjson::ondemand::json_type;
  if (json_type(document.type()) == json_type::array) {
    std::size_t sum = 0;
    for (auto one : document.get_array())
      sum += VisitValue(one.value());
    return sum;
  }
  std::size_t sum = 0;
  for (auto field : document.get_object())
    sum += VisitValue(field.value());
  return sum;
}

// Passes over the file, with the time spent in the parsers alone.
class ParsePass {
 public:
  explicit ParsePass(const FloorOptions& options) : options_(options) {}

  void Restart() {
    parse_seconds_ = visit_seconds_ = 0;
    events_ = windows_ = 0;
  }

  void Parse(std::string_view document, std::size_t capacity) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(document.data());
    const auto start = Clock::now();
    const simdjson::dom::element root = dom_.parse(bytes, document.size(), false);
    parse_seconds_ += SecondsSince(start);
    simdjson::dom::array events;
    if (root.get_array().get(events) != simdjson::SUCCESS &&
        root["traceEvents"].get_array().get(events) != simdjson::SUCCESS)
      throw std::runtime_error("there is no list of events");
    for (const simdjson::dom::element event : events) {
      static_cast<void>(event);
      ++events_;
    }
    ++windows_;
    if (!options_.visit) return;
    const auto visit_start = Clock::now();
    simdjson::ondemand::document visited =
        on_demand_.iterate(document.data(), document.size(), capacity);
    sum_ += VisitDocument(visited);
    visit_seconds_ += SecondsSince(visit_start);
  }

  double parse_seconds() const { return parse_seconds_; }
  double visit_seconds() const { return visit_seconds_; }
  std::int64_t events() const { return events_; }
  std::int64_t windows() const { return windows_; }

 private:
  const FloorOptions& options_;
  simdjson::dom::parser dom_;
  simdjson::ondemand::parser on_demand_;
  double parse_seconds_ = 0;
  double visit_seconds_ = 0;
  std::int64_t events_ = 0;
  std::int64_t windows_ = 0;
  std::size_t sum_ = 0;
};

void Improve(Pass& best, double seconds, std::int64_t bytes) {
  if (best.seconds <= 0 || seconds < best.seconds) best = {seconds, bytes};
}

}  // namespace

Floor MeasureFloor(const std::string& path, const FloorOptions& options) {
  Floor floor;
  floor.gzip = IsGzip(path);
  {
    const File file = OpenFile(path);
    std::fseek(file.get(), 0, SEEK_END);
    floor.file_bytes = std::ftell(file.get());
  }
  // One for all runs: its memory is fresh only in the first window of the first run.
  ParsePass pass(options);
  for (int run = 0; run < std::max(options.runs, 1); ++run) {
    const auto start = Clock::now();
    const std::int64_t bytes = Unpack(path, floor.gzip, nullptr);
    Improve(floor.unpack, SecondsSince(start), bytes);
    pass.Restart();
    EventWindows windows(
        static_cast<std::size_t>(options.window_bytes),
        [&](std::string_view document, std::size_t capacity) { pass.Parse(document, capacity); });
    try {
      Unpack(path, floor.gzip, [&](std::string_view block) { windows.Add(block); });
      windows.Finish();
    } catch (const simdjson::simdjson_error& error) {
      Fail(path, error.what());
    }
    Improve(floor.parse, pass.parse_seconds(), bytes);
    if (options.visit) Improve(floor.visit, pass.visit_seconds(), bytes);
    floor.json_bytes = bytes;
    floor.events = pass.events();
    floor.windows = pass.windows();
  }
  return floor;
}

}  // namespace jarvis::bench
