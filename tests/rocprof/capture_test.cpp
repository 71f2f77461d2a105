// Files of every version that rocprofv3 wrote, their joins, ranks, and what damage does to them.
#include "rocprof/read/capture.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "files.h"
#include "rocprof/metrics/join_rows.h"
#include "rocprof/metrics/kernel_rows.h"
#include "rocprof/metrics/kernel_tables.h"
#include "rocprof/read/csv_stream.h"
#include "rocprof/read/ranks.h"
#include "rocprof/read/read_results.h"
#include "support/memory_source.h"

namespace jarvis::rocprof {
namespace {

constexpr std::string_view kCounters =
    R"("Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp")"
    "\n";
constexpr std::string_view kCounters2024 =
    R"("Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size","Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count","SGPR_Count","Counter_Name","Counter_Value")"
    "\n";
constexpr std::string_view kTrace2024 =
    R"("Kind","Agent_Id","Queue_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","Private_Segment_Size","Group_Segment_Size","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z")"
    "\n";

std::string Counter(int dispatch, std::string_view agent, std::string_view kernel,
                    std::string_view counter, double value, int start, int end) {
  return fmt::format(
      "{0},{0},\"{1}\",1,7,7,1024,1,\"{2}\",256,4096,0,128,64,112,\"{3}\",{4:.1f},"
      "{5},{6}\n",
      dispatch, agent, kernel, counter, value, start, end);
}

std::vector<KernelRow> Rows(const Capture& capture, GroupOptions options = {}) {
  Job job;
  auto rows = KernelRows(capture, options, job);
  REQUIRE(rows);
  return std::move(*rows);
}

const Warning* FindWarning(const Capture& capture, std::string_view code) {
  for (const Warning& one : capture.warnings) {
    if (one.code == code) return &one;
  }
  return nullptr;
}

TEST_CASE("metrics are ratios of sums over the dispatches of a kernel") {
  const Files files;
  files.Write("7_agent_info.csv", Agents());
  files.Write("7_counter_collection.csv",
              std::string(kCounters) +
                  Counter(1, "Agent 1", "k<a, b>", "SQ_BUSY_CU_CYCLES", 2000, 1000, 2000) +
                  Counter(1, "Agent 1", "k<a, b>", "SQ_WAVE_CYCLES", 8000, 1000, 2000) +
                  Counter(1, "Agent 1", "k<a, b>", "SQ_WAVES", 16, 1000, 2000) +
                  Counter(1, "Agent 1", "k<a, b>", "SQ_INSTS_MFMA", 160, 1000, 2000) +
                  Counter(1, "Agent 1", "k<a, b>", "GRBM_GUI_ACTIVE", 2000, 1000, 2000) +
                  Counter(2, "Agent 1", "k<a, b>", "SQ_BUSY_CU_CYCLES", 1000, 2000, 5000) +
                  Counter(2, "Agent 1", "k<a, b>", "GRBM_GUI_ACTIVE", 6000, 2000, 5000));
  const Capture capture = files.Read();
  CHECK(capture.complete);
  CHECK(capture.warnings.empty());
  const auto rows = Rows(capture);
  REQUIRE(rows.size() == 1);
  const KernelRow& row = rows[0];
  CHECK(row.kernel == "k<a, b>");
  CHECK(row.count == 2);
  CHECK(row.workgroups() == 4);
  CHECK(*row.mean_us == doctest::Approx(2));
  CHECK(row.metrics.cycles == Cycles::kGrbm);
  // (2000 + 1000) / ((1000 + 3000) cycles x 4 compute units)
  CHECK(*row.metrics.cu_util_pct == doctest::Approx(100 * 3000.0 / 16000));
  CHECK(*row.metrics.cu_util_max_pct == doctest::Approx(50));
  CHECK(*row.metrics.cu_util_min_pct == doctest::Approx(100 * 1000.0 / 12000));
  CHECK(*row.metrics.occupancy_pct == doctest::Approx(400 * 8000.0 / (1000 * 4 * 32)));
  CHECK(*row.metrics.wave_cycles == doctest::Approx(2000));
  CHECK(*row.metrics.mfma_per_wave == doctest::Approx(10));
  CHECK_FALSE(row.metrics.mfma_util_pct);
  CHECK_FALSE(row.metrics.se_busy_pct);
  // 192 registers of 512 let two waves in; LDS 16 groups of 4 waves.
  REQUIRE(row.limit);
  CHECK(row.limit->waves_per_simd == 2);
  CHECK(row.limit->limiter == "registers");
}

TEST_CASE("without GRBM_GUI_ACTIVE the clock stands in, and is named") {
  const Files files;
  files.Write("7_agent_info.csv", Agents());
  files.Write(
      "7_counter_collection.csv",
      std::string(kCounters) + Counter(1, "Agent 1", "k", "SQ_BUSY_CU_CYCLES", 2000, 1000, 2000));
  const Capture capture = files.Read();
  const auto rows = Rows(capture);
  CHECK(rows[0].metrics.cycles == Cycles::kMaxClock);
  CHECK(*rows[0].metrics.cu_util_pct == doctest::Approx(50));  // 1000 ns at 1 GHz, 4 units
  GroupOptions slower;
  slower.clock_mhz = 500;
  CHECK(*Rows(capture, slower)[0].metrics.cu_util_pct == doctest::Approx(100));
  const Table table = KernelTable(rows, "t", {});
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i] == "cu_util_pct") CHECK(table.rows[0][i] == Cell());
    if (table.columns[i] == "cu_util_pct_est") CHECK(table.rows[0][i] == Cell(50.0));
  }
}

TEST_CASE("files of 2024: no accumulation registers, no times beside counters, bare agents") {
  const Files files;
  files.Write("7_agent_info.csv", Agents());
  files.Write("7_counter_collection.csv",
              std::string(kCounters2024) +
                  "1,5,1,1,7,7,1024,1,\"k\",256,4096,16,128,112,\"SQ_BUSY_CU_CYCLES\",2000\n");
  files.Write("7_kernel_trace.csv",
              std::string(kTrace2024) +
                  "\"KERNEL_DISPATCH\",1,1,7,5,1,\"k\",1,1000,2000,16,4096,256,1,1,1024,1,1\n"
                  "\"KERNEL_DISPATCH\",1,1,7,6,1,\"other\",2,2000,2500,0,0,64,1,1,64,2,1\n");
  const Capture capture = files.Read();
  CHECK(capture.complete);
  const auto rows = Rows(capture);
  REQUIRE(rows.size() == 2);
  CHECK(*rows[0].metrics.cu_util_pct == doctest::Approx(50));
  CHECK(rows[0].agpr == kUnknown);
  CHECK(rows[0].scratch == 16);
  CHECK(rows[1].kernel == "other");  // not among the filtered kernels: time alone
  CHECK(rows[1].grid == 128);
  CHECK(rows[1].counted == 0);
  CHECK_FALSE(rows[1].metrics.cu_util_pct);
}

TEST_CASE("ways to write an agent") {
  const Files files;
  files.Write("7_agent_info.csv", Agents());
  files.Write("7_counter_collection.csv", std::string(kCounters) +
                                              Counter(1, "GPU 1", "k", "SQ_WAVES", 1, 0, 1) +
                                              Counter(2, "Agent 2", "k", "SQ_WAVES", 1, 0, 1) +
                                              Counter(3, "2", "k", "SQ_WAVES", 1, 0, 1) +
                                              Counter(4, "Agent 9", "k", "SQ_WAVES", 1, 0, 1));
  const Capture capture = files.Read();
  const auto& dispatches = capture.processes[0].dispatches;
  for (int i = 0; i < 3; ++i)
    CHECK(dispatches[static_cast<std::size_t>(i)].agent == 2);
  CHECK(dispatches[3].agent == -1);
  CHECK(FindWarning(capture, "AGENT_UNKNOWN") != nullptr);
}

TEST_CASE("ranks: GPUs before the order of process ids, which is that of numbers") {
  const Files files;
  for (const int pid : {9999, 10001}) {
    files.Write(fmt::format("pass_1/n/{}_agent_info.csv", pid), Agents());
    files.Write(fmt::format("pass_1/n/{}_counter_collection.csv", pid),
                std::string(kCounters) +
                    Counter(1, pid == 9999 ? "Agent 2" : "Agent 1", "k", "SQ_WAVES", 1, 0, 1));
  }
  files.Write("pass_1/n/500_agent_info.csv", Agents());  // a launcher without kernels
  Capture capture = files.Read();
  REQUIRE(capture.processes.size() == 2);
  CHECK(capture.processes[0].pid == 10001);
  CHECK(capture.processes[0].rank_source == "agent");

  for (const int pid : {9999, 10001}) {
    files.Write(fmt::format("pass_1/n/{}_counter_collection.csv", pid),
                std::string(kCounters) + Counter(1, "Agent 1", "k", "SQ_WAVES", 1, 0, 1));
  }
  capture = files.Read();
  CHECK(capture.processes[0].pid == 9999);
  CHECK(capture.processes[0].rank_source == "order");
  CHECK(FindWarning(capture, "RANK_GUESSED") != nullptr);

  const Files named;
  for (const int rank : {0, 1}) {
    named.Write(fmt::format("rank_{}_counter_collection.csv", rank),
                std::string(kCounters) + Counter(1, "Agent 1", "k", "SQ_WAVES", 1, 0, 1));
  }
  CHECK(named.Read().processes[1].rank == 1);
  const Files counted;
  for (const int rank : {1, 0}) {
    counted.Write(fmt::format("out_{}_counter_collection.csv", rank),
                  std::string(kCounters) + Counter(1, "Agent 1", "k", "SQ_WAVES", 1, 0, 1));
  }
  CHECK(counted.Read().processes[0].prefix == "out_0");
  CHECK(counted.Read().processes[0].rank_source == "name");
  CHECK(RankInText("train.py --local-rank=3 x") == 3);
  CHECK(RankInText("LOCAL_RANK=12") == 12);
  CHECK_FALSE(RankInText("frank7"));
  CHECK_FALSE(RankInText("rank"));
}

TEST_CASE("passes are joined by kernel and occurrence, and say so") {
  const Files files;
  const auto pass = [&](int number, std::string_view counter, int first, int count) {
    const std::string folder =
        fmt::format("256thread/nccl_28channels/rocprof_traces/pass_{}/n/", number);
    std::string text(kCounters);
    for (int i = 0; i < count; ++i)
      text += Counter(first + i, "Agent 1", "k", counter, 100 * number + i, 1000 * i, 1000 * i + 9);
    files.Write(folder + std::to_string(number * 7) + "_agent_info.csv", Agents());
    files.Write(folder + std::to_string(number * 7) + "_counter_collection.csv", text);
  };
  pass(1, "SQ_WAVES", 1, 2);
  pass(2, "SQ_INSTS_MFMA", 40, 3);
  const Capture capture = files.Read();
  CHECK(capture.passes == 2);
  CHECK(capture.joined == 2);
  CHECK(capture.unjoined == 1);
  REQUIRE(capture.processes.size() == 1);
  CHECK(capture.processes[0].config.name() == "256thread_28ch");
  const auto rows = Rows(capture);
  CHECK(rows[0].count == 3);
  CHECK(*rows[0].metrics.mfma_per_wave == doctest::Approx((200.0 + 201) / (100 + 101)));
}

TEST_CASE("counters beside the rows of another table") {
  const Files files;
  const std::string folder = "256thread/nccl_28channels/rocprof_traces/n/";
  files.Write(folder + "7_agent_info.csv", Agents());
  files.Write(folder + "7_counter_collection.csv",
              std::string(kCounters) + Counter(1, "Agent 1", "k", "SQ_WAVES", 5, 0, 1000));
  const Capture capture = files.Read();
  const Table rows{"t",
                   {"threads", "channels", "rank", "kernel_name"},
                   {{std::int64_t{256}, std::int64_t{28}, std::int64_t{0}, "k"},
                    {std::int64_t{256}, std::int64_t{28}, std::int64_t{3}, "k"},
                    {std::int64_t{512}, std::int64_t{28}, std::int64_t{0}, "k"},
                    {std::int64_t{256}, std::int64_t{28}, std::int64_t{0}, "other"}}};
  Job job;
  const auto joined = JoinWithRows(rows, capture, {}, job);
  REQUIRE(joined);
  REQUIRE(joined->rows.size() == 4);
  const std::vector<Cell> matches = {"rank", "config", "any", Cell()};
  std::size_t waves = 0;
  while (joined->columns[waves] != "rocprof_waves_per_dispatch")
    ++waves;
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(joined->rows[i][4] == matches[i]);
    CHECK(joined->rows[i].size() == joined->columns.size());
    CHECK(joined->rows[i][waves] == (i < 3 ? Cell(5.0) : Cell()));
  }
  CHECK_FALSE(JoinWithRows({"t", {"a"}, {}}, capture, {}, job));
}

TEST_CASE("damage costs what it hit") {
  const std::string whole = std::string(kCounters) +
                            Counter(1, "Agent 1", "k", "SQ_WAVES", 1, 0, 1) +
                            Counter(2, "Agent 1", "k", "SQ_WAVES", 2, 1, 2);
  const Files files;
  files.Write("7_agent_info.csv", Agents());
  SUBCASE("cut in a row") {
    files.Write("7_counter_collection.csv", whole.substr(0, whole.size() - 40));
    const Capture capture = files.Read();
    CHECK(capture.processes[0].dispatches.size() == 1);
    CHECK_FALSE(capture.complete);
    CHECK(FindWarning(capture, "TRACE_TRUNCATED") != nullptr);
  }
  SUBCASE("odd rows") {
    files.Write("7_counter_collection.csv",
                whole + "1,2\n" + Counter(3, "Agent 1", "k", "", 1, 0, 1) +
                    "1,4,\"Agent 1\",1,7,7,1024,1,\"k\",256,0,0,1,1,1,\"SQ_WAVES\",nan,0,1\n");
    const Capture capture = files.Read();
    CHECK(capture.processes[0].dispatches.size() == 2);
    REQUIRE(FindWarning(capture, "ODD_ROWS") != nullptr);
    CHECK(FindWarning(capture, "ODD_ROWS")->message ==
          "3 of 5 rows cannot be used, the first is row 4");
  }
  SUBCASE("no file of ours") {
    files.Write("8_counter_collection.csv", "a,b\n1,2\n");
    files.Write("7_counter_collection.csv", whole);
    const Capture capture = files.Read();
    CHECK(capture.processes.size() == 1);
    CHECK_FALSE(capture.complete);
    CHECK(FindWarning(capture, "TRACE_UNREADABLE") != nullptr);
  }
  SUBCASE("every beginning of a file") {
    for (std::size_t bytes = 0; bytes <= whole.size(); bytes += 3) {
      files.Write("7_counter_collection.csv", std::string_view(whole).substr(0, bytes));
      const Capture capture = files.Read();
      for (const Process& process : capture.processes)
        CHECK(process.dispatches.size() <= 2);
    }
  }
}

TEST_CASE("statistics alone, and nothing at all") {
  const Files files;
  files.Write(
      "7_kernel_stats.csv",
      "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\","
      "\"StdDev\"\n\"k\",2,5000,2500.0,100.0,1000,4000,1.0\n");
  const Table stats = StatsTable(files.Read());
  REQUIRE(stats.rows.size() == 1);
  CHECK(stats.rows[0][5] == Cell(5.0));
  CHECK(stats.rows[0][6] == Cell(2.5));
  const Files launcher;
  launcher.Write("7_agent_info.csv", Agents());
  const Capture empty = launcher.Read();
  CHECK(empty.processes.empty());
  CHECK(FindWarning(empty, "TRACE_EMPTY") != nullptr);
  Job job;
  CHECK_FALSE(ReadCapture(io::FilePolicy(), files.path() + "/nowhere", {}, job));
}

TEST_CASE("rows of any cut into pieces") {
  const std::string text = "\xEF\xBB\xBF\"a\",b\r\n\"x,\"\"y\"\"\nz\",2\n\n3,\n";
  for (const std::size_t piece : {1U, 2U, 5U, 100U}) {
    testing::MemorySource source(text, piece);
    CsvStream stream(source);
    std::vector<std::string> row;
    REQUIRE(*stream.Next(&row));
    CHECK(row == std::vector<std::string>{"a", "b"});
    REQUIRE(*stream.Next(&row));
    CHECK(row == std::vector<std::string>{"x,\"y\"\nz", "2"});
    REQUIRE(*stream.Next(&row));
    CHECK(row == std::vector<std::string>{"3", ""});
    CHECK_FALSE(*stream.Next(&row));
    CHECK(stream.damage().empty());
  }
  testing::MemorySource endless("a,b\n\"" + std::string(CsvStream::kRowBytesMax + 9, 'x'));
  CsvStream stream(endless);
  std::vector<std::string> row;
  REQUIRE(*stream.Next(&row));
  CHECK_FALSE(*stream.Next(&row));
  CHECK_FALSE(stream.damage().empty());
}

// ---- results.json

constexpr std::string_view kResults = R"({"rocprofiler-sdk-tool":[{"metadata":{"pid":7,
"init_time":100,"fini_time":9000,"command":["python","train.py","--rank=5"]},
"agents":[{"id":{"handle":91},"type":2,"cu_count":4,"num_xcc":2,"simd_per_cu":4,"max_waves_per_simd":8,
"max_engine_clk_fcompute":1000,"name":"gfx942","node_id":1,"logical_node_id":1}],
"counters":[{"id":{"handle":50},"name":"SQ_WAVES"},{"id":{"handle":51},"name":"SQ_BUSY_CU_CYCLES"}],
"kernel_symbols":[{"kernel_id":3,"kernel_name":"k.kd","arch_vgpr_count":32,"accum_vgpr_count":8}],
"callback_records":{"counter_collection":[{"dispatch_data":{"dispatch_info":{"agent_id":{"handle":91},
"kernel_id":3,"dispatch_id":1,"workgroup_size":{"x":64,"y":1,"z":1},"grid_size":{"x":640,"y":1,"z":1}},
"start_timestamp":1000,"end_timestamp":2000},"records":[{"counter_id":{"handle":50},"value":4},
{"counter_id":{"handle":50},"value":6},{"counter_id":{"handle":51},"value":2000.0}],"lds_block_size_v":512}]},
"buffer_records":{"kernel_dispatch":[{"start_timestamp":1000,"end_timestamp":2000,"thread_id":7,
"dispatch_info":{"agent_id":{"handle":91},"kernel_id":3,"dispatch_id":1,"workgroup_size":{"x":64,"y":1,"z":1},
"grid_size":{"x":640,"y":1,"z":1},"group_segment_size":500}},{"start_timestamp":3000,"end_timestamp":3500,
"dispatch_info":{"agent_id":{"handle":91},"kernel_id":4,"dispatch_id":2,"workgroup_size":{"x":64,"y":1,"z":1},
"grid_size":{"x":64,"y":1,"z":1}}}],"memory_copy":[{"start_timestamp":2500,"end_timestamp":2600}]}}]})";

TEST_CASE("a document: records of instances are summed, kernels without a symbol have a number") {
  const Files files;
  files.Write("7_results.json", kResults);
  const Capture capture = files.Read();
  CHECK(capture.complete);
  REQUIRE(capture.processes.size() == 1);
  const Process& process = capture.processes[0];
  CHECK(process.rank == 5);
  CHECK(process.rank_source == "command");
  CHECK(process.copies.size() == 1);
  REQUIRE(process.dispatches.size() == 2);
  const auto rows = Rows(capture);
  CHECK(rows[0].kernel == "k");
  CHECK(*rows[0].metrics.waves == doctest::Approx(10));
  CHECK(*rows[0].metrics.cu_util_pct == doctest::Approx(50));
  CHECK(rows[0].lds == 512);
  CHECK(rows[0].agpr == 8);
  CHECK(rows[1].kernel == "unknown_kernel_4");
}

TEST_CASE("every beginning of a document is read or refused, and never half a record") {
  Job job;
  for (std::size_t bytes = 0; bytes < kResults.size(); ++bytes) {
    const auto content = ReadResults(std::string(kResults.substr(0, bytes)), 100, job);
    if (!content) continue;
    CHECK_FALSE(content->damage.empty());
    for (const Dispatch& dispatch : content->dispatches) {
      for (const CounterValue& value : dispatch.counters)
        CHECK((value.value == 10 || value.value == 2000));
    }
  }
  for (const char* text : {"{}", "[]", "3", R"({"rocprofiler-sdk-tool":[]})",
                           R"({"rocprofiler-sdk-tool":7})", R"({"traceEvents":[]})"}) {
    const auto content = ReadResults(text, 100, job);
    REQUIRE_FALSE(content);
    CHECK(content.error().message.starts_with("not a valid rocprofv3 file"));
  }
  // Members of other types than they should have.
  for (
      const char* text :
      {R"({"rocprofiler-sdk-tool":[{}]})",
       R"({"rocprofiler-sdk-tool":[{"agents":{},"metadata":[],"kernel_symbols":3,"buffer_records":[]}]})",
       R"({"rocprofiler-sdk-tool":{"agents":[1,null],"counters":["x"],"callback_records":{"counter_collection":[{"dispatch_data":3}]},"buffer_records":{"kernel_dispatch":[7,{"dispatch_info":{}}]}}})"}) {
    CHECK(ReadResults(text, 100, job));
  }
}

TEST_CASE("dispatches beyond the limit are left out, and said") {
  Job job;
  const auto content = ReadResults(std::string(kResults), 1, job);
  REQUIRE(content);
  CHECK(content->dispatches.size() == 1);
  CHECK(content->damage == "more than 1 dispatches: the rest is left out");
}

TEST_CASE("a whole document stands for a damaged table") {
  const Files files;
  files.Write("7_results.json", kResults);
  files.Write("7_counter_collection.csv", std::string(kCounters) + "1,2,3");
  const Capture capture = files.Read();
  CHECK(capture.complete);
  CHECK(capture.processes[0].dispatches.size() == 2);
  REQUIRE(FindWarning(capture, "TRACE_TRUNCATED") != nullptr);
}

}  // namespace
}  // namespace jarvis::rocprof
