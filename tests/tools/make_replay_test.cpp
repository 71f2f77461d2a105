// make_replay: schemas taken apart, recorded calls matched with them, entries and packages.
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zip.h>

#include "io/text_file.h"
#include "json/json.h"
#include "mcp/call_tool.h"
#include "mcp/schema.h"
#include "replay/entry.h"
#include "replay/initialisers.h"
#include "replay/match.h"
#include "replay/package.h"
#include "replay/schema_table.h"
#include "replay/values.h"
#include "support/temp_folder.h"
#include "support/trace_builder.h"
#include "tools/catalog/all_tools.h"

namespace jarvis::tools {
namespace {

using testing::TraceText;

replay::OpSchema Schema(std::string_view text) {
  auto schema = replay::ParseSchema(text);
  REQUIRE_MESSAGE(schema.has_value(), text);
  return std::move(*schema);
}

TEST_CASE("a schema's arguments, whatever its defaults hold") {
  const replay::OpSchema schema = Schema(
      "ns::op.over(Tensor(a!) self, Tensor?[] many, int[2] stride=[1, 1], str x=\"a,b)\", *, "
      "Tensor(b!)[]? out=None, float? scale=1e-05, SymInt[] size) -> (Tensor(a!), int)");
  CHECK(schema.name == "ns::op");
  CHECK(schema.overload == "over");
  REQUIRE(schema.args.size() == 7);
  CHECK(schema.args[0].type.IsTensor());
  CHECK_FALSE(schema.args[0].type.list);
  CHECK(schema.args[1].type.list);
  CHECK(schema.args[1].type.optional_elements);
  CHECK_FALSE(schema.args[1].type.optional);
  CHECK(schema.args[2].type.list_size == 2);
  CHECK(schema.args[2].default_text == "[1, 1]");
  CHECK(schema.args[3].default_text == "\"a,b)\"");
  CHECK_FALSE(schema.args[3].keyword_only);
  CHECK(schema.args[4].keyword_only);
  CHECK(schema.args[4].type.text == "Tensor(b!)[]?");
  CHECK(schema.args[4].type.optional);
  CHECK(schema.args[5].default_text == "1e-05");
  CHECK_FALSE(schema.args[6].default_text.has_value());
  CHECK(Schema("aten::f(Tensor(a -> *) self, Dict(str, Tensor) d) -> Tensor(a)[]").args[1].name ==
        "d");
  CHECK(Schema("aten::f() -> ()").args.empty());
}

TEST_CASE("text that is no schema is refused with its place") {
  for (const char* text : {"", "aten", "aten::", "aten::f", "aten::f(", "aten::f(Tensor)",
                           "aten::f(Tensor a", "aten::f(Tensor a)", "aten::f(int[2 a) -> ()",
                           "aten::f(str a=\"x) -> ()", "aten::f(Tensor a int b) -> ()"}) {
    const auto schema = replay::ParseSchema(text);
    REQUIRE_MESSAGE(!schema.has_value(), text);
    CHECK(schema.error().message.find("character") != std::string::npos);
  }
}

TEST_CASE("every schema of the table can be read") {
  std::size_t lines = 0;
  std::size_t read = 0;
  for (const EmbeddedFile& file : replay::ReplaySchemaFiles()) {
    std::string_view rest = file.text;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      const std::string_view line = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      if (line.empty() || line.front() == '#') continue;
      ++lines;
      const auto schema = replay::ParseSchema(line);
      CHECK_MESSAGE(schema.has_value(), line);
      if (schema && schema->text == line) ++read;
    }
  }
  CHECK(lines > 3000);
  CHECK(read == lines);
  CHECK(replay::SchemaTableVersion().starts_with("1."));
  CHECK(replay::OverloadsOf("aten::add").front().overload == "Tensor");
  CHECK(replay::OverloadsOf("aten::no_such_op").empty());
}

TEST_CASE("values as the profiler writes them") {
  const auto value = [](std::string_view type, std::string_view text) {
    const replay::OpSchema schema = Schema(fmt::format("a::b({} x) -> ()", type));
    return replay::ValueOf(schema.args[0].type, text);
  };
  CHECK(value("bool", "True") == Json(true));
  CHECK(value("int", "-3") == Json(-3));
  CHECK(value("SymInt[]", "[1, -2]") == Json::array({1, -2}));
  CHECK(value("bool[3]", "[True, False, True]") == Json::array({true, false, true}));
  CHECK(value("Scalar", "2")->is_number_integer());  // 2.0 would change the result's type
  CHECK(value("Scalar", "2.")->is_number_float());
  CHECK(value("Scalar", "-inf") == Json("-inf"));
  CHECK(value("int[2]", "3") == Json(3));
  CHECK(value("float", "0.10000000000000001") == Json(0.1));
  for (const auto& [type, text] :
       {std::pair("int", "1.5"), std::pair("int", "x"), std::pair("bool", "1"),
        std::pair("int[]", "[1, x]"), std::pair("int[]", "1"), std::pair("str", "a"),
        std::pair("float", "1e999"), std::pair("Scalar", "os.system('x')")}) {
    CHECK_MESSAGE(!value(type, text).has_value(), type << " " << text);
  }
}

replay::ProfiledArg TensorArg(Json dims, const char* type, Json strides) {
  return {std::move(dims), type, std::move(strides), ""};
}
replay::ProfiledArg ScalarArg(const char* text, const char* type = "Scalar") {
  return {Json::array(), type, Json::array(), text};
}
replay::ProfiledCall Call(std::vector<replay::ProfiledArg> args) {
  return {std::move(args), true, true, true};
}
const Json kTwoByFour = Json::array({2, 4});
const Json kRows = Json::array({4, 1});

TEST_CASE("a recorded call and its schema") {
  const replay::OpSchema add =
      Schema("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
  const replay::ProfiledArg tensor = TensorArg(kTwoByFour, "c10::BFloat16", kRows);
  auto match = replay::MatchCall(add, Call({tensor, tensor, ScalarArg("1.0")}), {});
  REQUIRE(match.has_value());
  CHECK(match->warnings.empty());
  CHECK(
      match->args[0].value ==
      Json{{"shape", {2, 4}}, {"dtype", "c10::BFloat16"}, {"strides", {4, 1}}, {"init", "normal"}});
  CHECK(match->args[2].value == Json(1.0));
  // Too many arguments, no number, no tensor, a number for a tensor.
  CHECK_FALSE(replay::MatchCall(add, Call({tensor, tensor, tensor, tensor}), {}).has_value());
  CHECK_FALSE(replay::MatchCall(add, Call({tensor, tensor, ScalarArg("x")}), {}).has_value());
  CHECK_FALSE(
      replay::MatchCall(add, Call({tensor, ScalarArg("1"), ScalarArg("1")}), {}).has_value());
  CHECK_FALSE(replay::MatchCall(add, Call({tensor, tensor, tensor}), {}).has_value());
  // The profiler of that time did not know alpha.
  CHECK(replay::MatchCall(add, Call({tensor, tensor}), {})->args[2].value == Json(1));
  CHECK_FALSE(replay::MatchCall(add, Call({tensor}), {}).has_value());
}

TEST_CASE("what was not recorded is assumed, and said") {
  const replay::OpSchema sum = Schema(
      "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? "
      "dtype=None) -> Tensor");
  replay::ProfiledCall old = Call({TensorArg(kTwoByFour, "float", nullptr), ScalarArg("", ""),
                                   ScalarArg(""), ScalarArg("", "")});
  old.values_recorded = false;
  old.strides_recorded = false;
  const auto match = replay::MatchCall(sum, old, {});
  REQUIRE(match.has_value());
  CHECK(match->args[0].value.at("strides") == Json::array({4, 1}));
  CHECK(match->args[1].value.is_null());
  CHECK(match->args[2].value == Json(false));
  CHECK(match->warnings.size() == 2);  // keepdim, strides
  const replay::OpSchema cat = Schema("aten::cat(Tensor[] tensors, int dim=0) -> Tensor");
  const auto lost = replay::MatchCall(cat, Call({ScalarArg("", "TensorList"), ScalarArg("1")}), {});
  REQUIRE_FALSE(lost.has_value());
  CHECK(lost.error().code == ErrorCode::kNoShapes);
  const auto listed = replay::MatchCall(
      cat, Call({{Json::array({kTwoByFour, {2, 4}}), "TensorList", nullptr, ""}, ScalarArg("-1")}),
      {"c10::Half", true});
  REQUIRE(listed.has_value());
  CHECK(listed->args[0].value.size() == 2);
  CHECK(listed->args[0].value[1].at("dtype") == "c10::Half");
}

TEST_CASE("indices stay within what they point into") {
  const replay::OpSchema gather = Schema(
      "aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor");
  auto match = replay::MatchCall(gather,
                                 Call({TensorArg({6, 10}, "float", {10, 1}), ScalarArg("-1"),
                                       TensorArg({6, 3}, "long int", {3, 1}), ScalarArg("False")}),
                                 {});
  REQUIRE(match.has_value());
  replay::SetInitialisers(gather, &*match);
  CHECK(match->args[0].value.at("init") == "normal");
  CHECK(match->args[2].value.at("init") == "randint");
  CHECK(match->args[2].value.at("high") == 10);
}

TEST_CASE("names") {
  for (const char* name : {"aten::add_", "_C::op2", "fb::x"})
    CHECK(replay::IsOperatorName(name));
  for (const char* name : {"aten", "aten::", "::add", "a::b::c", "aten::add;rm", "aten::a b",
                           "1::b", "aten::\nadd", "torch::autograd::CppNode<X>"})
    CHECK_FALSE(replay::IsOperatorName(name));
  CHECK(replay::SafeName("aten::add_") == "aten_add_");
  CHECK(replay::SafeName("../../etc/passwd") == "etc_passwd");
  CHECK(replay::SafeName("") == "op");
}

TEST_CASE("equal files are an equal archive, in order") {
  const std::vector<replay::PackedFile> files = {{"b.txt", "two"},
                                                 {"a.txt", std::string(5000, 'x')}};
  const auto one = replay::MakeZip(files);
  ::setenv("TZ", "Asia/Tokyo", 1);
  ::tzset();
  const auto two = replay::MakeZip({files[1], files[0]});
  ::unsetenv("TZ");
  ::tzset();
  CHECK(one == two);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(one.data(), one.size(), 0, &error);
  zip_t* archive = zip_open_from_source(source, ZIP_RDONLY, &error);
  REQUIRE(archive != nullptr);
  CHECK(std::string(zip_get_name(archive, 0, 0)) == "a.txt");
  zip_stat_t stat;
  REQUIRE(zip_stat_index(archive, 1, 0, &stat) == 0);
  CHECK(stat.size == 3);
  zip_discard(archive);
}

// The tool as a client meets it.
class ReplayServer {
 public:
  explicit ReplayServer(const TraceText& text) { folder_.Write("trace.json", text.Json()); }

  mcp::ToolReply Call(Json arguments) {
    arguments["trace"] = folder_ / "trace.json";
    if (!arguments.contains("output_dir")) arguments["output_dir"] = folder_ / "out";
    const mcp::Tool* tool = tools_.Find("make_replay");
    REQUIRE(tool != nullptr);
    const auto normalized = mcp::Normalize(tool->input_schema(), arguments);
    REQUIRE(normalized.has_value());
    Job job;
    return mcp::RunTool(*tool, *normalized, job).reply;
  }
  std::string Path(const std::string& name) const { return folder_ / ("out/" + name); }
  std::string Text(const std::string& name) const {
    return io::ReadTextFile(io::FilePolicy(), Path(name), 1 << 24).value_or("");
  }
  Json Ir() const { return Json::parse(Text("replay_ir.json")); }

 private:
  testing::TempFolder folder_;
  session::Workspace workspace_;
  mcp::ToolSet tools_ = AllTools(workspace_);
};

constexpr const char* kMmArgs = R"("Input Dims":[[8,4],[4,6]],"Input type":["float","float"],)"
                                R"("Input Strides":[[4,1],[1,4]],"Concrete Inputs":["",""])";

TraceText MixedTrace() {
  TraceText text;
  text.OpWithKernel("aten::mm", 0, 50, "gemm", 10, 40, 1, kMmArgs);
  text.OpWithKernel("aten::mm", 100, 50, "gemm", 110, 20, 2, kMmArgs);
  text.OpWithKernel("triton_poi_fused_add_0", 200, 50, "triton_poi_fused_add_0", 210, 9, 3,
                    R"("Input Dims":[[4]],"Input type":["float"])");
  text.OpWithKernel("aten::relu", 300, 50, "relu", 310, 5, 4);
  text.OpWithKernel("my_ops::fused", 400, 50, "k", 410, 4, 5,
                    R"("Input Dims":[[4],[]],"Input type":["float","Scalar"],)"
                    R"("Concrete Inputs":["","7"])");
  text.OpWithKernel("aten::bad'); import os #", 500, 50, "k", 510, 3, 6, kMmArgs);
  text.OpWithKernel("aten::neg", 600, 50, "k", 610, 2, 7, R"("Input Dims":[["x"]])");
  return text;
}

TEST_CASE("rows become entries, or reasons") {
  ReplayServer server(MixedTrace());
  const mcp::ToolReply reply = server.Call({{"rows", {"op1", "op2", "op3", "op4", "op5", "op6"}}});
  REQUIRE_MESSAGE(!reply.is_error, reply.text);
  const Json ir = server.Ir();
  REQUIRE(ir.size() == 2);
  const Json& mm = ir[0];
  CHECK(mm.at("op_name") == "aten::mm");
  CHECK(mm.at("count") == 2);
  CHECK(mm.at("replay_ir").at("list_pos_args")[1].at("value").at("strides") == Json::array({1, 4}));
  CHECK(mm.at("schema") == "aten::mm(Tensor self, Tensor mat2) -> Tensor");
  CHECK(mm.at("input_bytes") == 8 * 4 * 4 + 4 * 6 * 4);
  CHECK(mm.at("reference").at("mean_us") == 30);
  CHECK(mm.at("reference").at("min_us") == 20);
  CHECK(mm.at("reference").at("kernel_names") == Json::array({"gemm"}));
  CHECK(mm.at("reference").at("source_row") == "op1");
  CHECK(mm.at("raw").at("Input type") == Json::array({"float", "float"}));
  CHECK(ir[1].at("op_name") == "my_ops::fused");
  CHECK(ir[1].at("needs_runtime_match") == true);
  CHECK(ir[1].at("raw").at("Concrete Inputs") == Json::array({"", "7"}));
  for (const char* reason :
       {"the compiler made", "no shapes recorded", "not an operator", "Input Dims holds no sizes"})
    CHECK_MESSAGE(reply.text.find(reason) != std::string::npos, reply.text);
  const Json index = Json::parse(server.Text("replay_packages/replay_index.json"));
  CHECK(index.at("packages")[0].at("entries") == 2);
  CHECK(std::filesystem::exists(
      server.Path(index.at("packages")[0].at("package").get<std::string>())));
}

TEST_CASE("the same question, the same bytes; files of others stay") {
  ReplayServer server(MixedTrace());
  REQUIRE_FALSE(server.Call({{"op_names", {"aten::mm"}}}).is_error);
  const std::string zip = server.Text("replay_package.zip");
  CHECK(zip.size() > 10000);
  REQUIRE_FALSE(server.Call({{"op_names", {"MM"}}}).is_error);  // its own files may go
  CHECK(server.Text("replay_package.zip") == zip);
  CHECK(server.Text("replay_packages/aten_mm_replay_package.zip") == zip);
  std::ofstream(server.Path("replay_ir.json")) << "mine";
  const mcp::ToolReply refused = server.Call({{"op_names", {"aten::mm"}}});
  CHECK(refused.is_error);
  CHECK(refused.text.find("[exists]") != std::string::npos);
  CHECK(server.Text("replay_ir.json") == "mine");
  CHECK_FALSE(server.Call({{"op_names", {"aten::mm"}}, {"overwrite", true}}).is_error);
  CHECK(server.Ir().size() == 1);
}

TEST_CASE("questions that cannot be answered") {
  ReplayServer server(MixedTrace());
  CHECK(server.Call({{"rows", {"op99"}}}).text.find("[unknown_row]") != std::string::npos);
  CHECK(server.Call({{"op_names", {"aten::nothing"}}}).text.find("no op") != std::string::npos);
  const mcp::ToolReply nothing = server.Call({{"op_names", {"triton_poi_fused_add_0"}}});
  CHECK(nothing.is_error);
  CHECK(nothing.text.find("TORCH_COMPILE_DEBUG") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(server.Path("replay_ir.json")));
}

TEST_CASE("the sizes of a damaged trace") {
  const std::string huge = "281474976710656";  // 2^48, the most that is taken for a size
  const auto pool = [](const std::string& size) {
    const std::string four = fmt::format("[{0},{0},{0},{0}]", size);
    return fmt::format(
        R"("Input Dims":[{0},{0},[],[],[],[],[],{0}],"Input type":["float","float","ScalarList",)"
        R"("ScalarList","ScalarList","ScalarList","Scalar","long int"],"Concrete Inputs":)"
        R"(["","","[3, 3]","[2, 2]","[1, 1]","[1, 1]","False",""])",
        four);
  };
  TraceText text;
  text.OpWithKernel("aten::max_pool2d_with_indices_backward", 0, 50, "k", 10, 9, 1, pool(huge));
  text.OpWithKernel("aten::neg", 100, 50, "k", 110, 8, 2,
                    R"("Input Dims":[[281474976710657]],"Input type":["float"])");
  text.OpWithKernel("aten::abs", 200, 50, "k", 210, 7, 3,
                    R"("Input Dims":[)" + std::string(500, '[') + std::string(500, ']') + "]");
  text.OpWithKernel("aten::exp", 300, 50, "k", 310, 6, 4,
                    R"("Input Dims":[[-3]],"Input type":["float"],"Concrete Inputs":["\ud800"])");
  ReplayServer server(text);
  const mcp::ToolReply reply = server.Call(Json::object());
  REQUIRE_MESSAGE(!reply.is_error, reply.text);
  CHECK(server.Ir()[0].at("op_name") == "aten::max_pool2d_with_indices_backward");
  CHECK(server.Ir()[0].at("input_bytes") == 1'000'000'000'000'000'000);
  CHECK(reply.text.find("Input Dims holds no sizes") != std::string::npos);
  CHECK(reply.text.find("damaged") != std::string::npos);
}

TEST_CASE("the engine's step around an operator of a package") {
  TraceText text;
  text.Annotation("execute_context_1(8)_generation_2(2)", 0, 100);
  text.OpWithKernel("_rocm_C::paged_attention", 10, 50, "k", 20, 9, 1,
                    R"("Input Dims":[[10,4]],"Input type":["c10::Half"])");
  ReplayServer server(text);
  REQUIRE_FALSE(server.Call(Json::object()).is_error);
  const Json context = server.Ir()[0].at("context");
  CHECK(context.at("prefills") == 1);
  CHECK(context.at("decodes") == 2);
  CHECK(context.at("prefill_tokens") == 8);
}

TEST_CASE("without rows everything is taken that can be") {
  ReplayServer server(MixedTrace());
  CHECK_FALSE(server.Call(Json::object()).is_error);
  CHECK(server.Ir().size() == 2);
}

TEST_CASE("a trace without GPU work has host ops, by name") {
  TraceText text;
  text.Op("aten::mm", 0, 50, kMmArgs).Op("aten::mm", 100, 70, kMmArgs);
  ReplayServer server(text);
  CHECK(server.Call(Json::object()).text.find("[no_gpu_events]") != std::string::npos);
  REQUIRE_FALSE(server.Call({{"op_names", {"mm"}}}).is_error);
  CHECK(server.Ir()[0].at("count") == 2);
  CHECK(server.Ir()[0].at("reference").at("mean_us") == 60);
  CHECK(server.Ir()[0].at("reference").at("device") == "cpu");
}

TEST_CASE("a limit keeps the longest") {
  ReplayServer server(MixedTrace());
  const mcp::ToolReply reply =
      server.Call({{"rows", {"op5", "op1"}}, {"limit", 1}, {"format", "ir"}});
  REQUIRE_MESSAGE(!reply.is_error, reply.text);
  CHECK(server.Ir().size() == 1);
  CHECK(server.Ir()[0].at("op_name") == "aten::mm");
  REQUIRE_FALSE(server.Call({{"rows", {"k1"}}, {"format", "ir"}}).is_error);  // what launched it
  CHECK(server.Ir()[0].at("op_name") == "aten::mm");
  CHECK(reply.text.find("beyond the limit") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(server.Path("replay_package.zip")));
}

}  // namespace
}  // namespace jarvis::tools
