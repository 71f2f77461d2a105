// What a trace says does not depend on how its file is written: in another order of its events,
// with members that nobody knows, compressed, in several gzip members, the default tables are the
// same.
#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <zlib.h>

#include "fuzz/loaded_text.h"
#include "fuzz/require.h"
#include "fuzz/trace_recipe.h"
#include "output/csv_writer.h"
#include "session/report.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace jarvis {
namespace {

using testing::Require;

std::string Gzip(std::string_view text) {
  std::string out(text.size() + text.size() / 100 + 64, '\0');
  z_stream stream{};
  Require(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  Require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib has room");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Tables(const std::string& text) {
  Job job;
  const auto trace = testing::LoadText(text, job);
  if (!trace) return "error: " + std::to_string(static_cast<int>(trace.error().code));
  session::ReportOptions options;
  options.platform = *perf::FindPlatform("A100");
  options.kernel_summary = true;
  options.short_kernel_study = true;
  const auto tables = session::MakeReport(**trace, options, job);
  if (!tables) return "error: " + std::to_string(static_cast<int>(tables.error().code));
  std::string all;
  for (const Table& table : *tables)
    all += "# " + table.name + "\n" + output::ToCsv(table);
  return all;
}

}  // namespace
}  // namespace jarvis

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jarvis;
  std::vector<std::string> elements = testing::ElementsOf({data, size});
  const std::string text = testing::DocumentOf(elements);
  const std::string tables = Tables(text);
  const std::size_t half = text.size() / 2;
  testing::Require(Tables(Gzip(text.substr(0, half)) + Gzip(text.substr(half))) == tables,
                   "compressed in two members");
  for (std::string& element : elements)
    element.insert(element.size() - 1, R"(,"unknown":{"a":[1,"}]"]})");
  testing::Require(Tables(testing::DocumentOf(elements)) == tables, "with unknown members");
  return 0;
}
