// The reference's own results, argument list by argument list. The vectors are not in the
// repository; without them the test says so and passes.
#include <cmath>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <map>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compat/tracelens_models.h"
#include "json/json.h"
#include "perf/model.h"

namespace jarvis {
namespace {

using Failure = perf::OpWork::Failure;

// One vector's call, with the texts that it points into.
struct Call {
  explicit Call(const Json& vector) {
    call.name = vector.at("op").get_ref<const std::string&>();
    const Json& args = vector.at("args");
    const auto raw = [&](const char* key) -> std::string_view {
      if (!args.contains(key)) return {};
      return texts.emplace_back(args.at(key).dump());
    };
    call.dims = raw("Input Dims");
    call.types = raw("Input type");
    call.strides = raw("Input Strides");
    call.text = raw("Concrete Inputs");
    for (const auto& [key, value] : args.items()) {
      if (key.starts_with("Input ") || key == "Concrete Inputs") continue;
      call.extra.emplace_back(texts.emplace_back(key), texts.emplace_back(value.dump()));
    }
    if (vector.contains("kernel_names")) {
      for (const Json& kernel : vector.at("kernel_names")) {
        call.kernels.push_back(kernel.get_ref<const std::string&>());
      }
    }
    if (vector.contains("annotation") && vector.at("annotation").is_string()) {
      call.annotation = vector.at("annotation").get_ref<const std::string&>();
    }
    if (vector.contains("attention_perf_meta") && vector.at("attention_perf_meta").is_object()) {
      for (const auto& [key, value] : vector.at("attention_perf_meta").items()) {
        call.extra.emplace_back(texts.emplace_back(key), texts.emplace_back(value.dump()));
      }
    }
    if (args.contains("Sequence number")) sequence = args.at("Sequence number").dump();
  }
  perf::OpCall call;
  std::string sequence;
  std::deque<std::string> texts;
};

bool NearVector(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b));
}

std::string Number(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "null";
}

// Where a result differs from what the reference gave; empty: nowhere.
std::string Compare(const Json& expect, const perf::ModelRow& row, const perf::OpEntry& entry,
                    perf::ModelSet& models, const perf::OpCall& call) {
  const perf::OpWork work = models.Evaluate(row, call);
  const std::string why = fmt::format(" (stage {}: {})", work.stage, work.reason);
  if (entry.category != expect.at("category").get<std::string>())
    return "category " + entry.category;
  if (expect.contains("sheet") && row.sheet != expect.at("sheet").get<std::string>()) {
    return "sheet " + row.sheet;
  }
  if (work.failure == Failure::kBroken) return "broken row" + why;
  const auto number = [&](const char* key, const std::optional<double>& got) -> std::string {
    if (!expect.contains(key)) return {};
    const Json& want = expect.at(key);
    const bool same = want.is_null() ? !got : got && NearVector(*got, want.get<double>());
    return same ? "" : fmt::format("{} {} instead of {}{}", key, Number(got), want.dump(), why);
  };
  if (expect.value("error", false)) {
    const auto kind = expect.at("kind").get<std::string>();
    const auto stage = expect.at("stage").get<std::string>();
    if (work.failure == Failure::kNone) {
      // A missing FLOP count counts as a failure there.
      if (!(stage == "flops" && !work.flops)) return "does not fail at " + stage;
    } else {
      if ((kind == "not_modelled") != (work.failure == Failure::kNotModelled)) return "kind" + why;
      if (work.stage != stage) return "stage" + why + " instead of " + stage;
    }
  } else if (work.failure != Failure::kNone) {
    return "fails" + why;
  }
  for (const char* key : {"flops", "bytes"}) {
    std::string bad = number(key, key[0] == 'f' ? work.flops : work.bytes);
    if (!bad.empty()) return bad;
  }
  if (expect.contains("compute") && work.spec != expect.at("compute").get<std::string>()) {
    return "spec " + work.spec + " instead of " + expect.at("compute").get<std::string>();
  }
  if (expect.contains("params_str")) {
    const Json& params = expect.at("params_str");
    std::string want, got;
    for (const auto& [key, value] : params.items())
      want += key + "=" + value.get<std::string>() + " ";
    for (const perf::Parameter& parameter : work.parameters) {
      got += parameter.key + "=" + parameter.value.Str() + " ";
    }
    if (want != got) return "params\n   got " + got + "\n  want " + want + why;
  }
  if (expect.contains("as_bwd")) {
    const Json& want = expect.at("as_bwd");
    const perf::OpWork backward = models.Evaluate(row, call, true);
    const bool failed = backward.failure != Failure::kNone || !backward.flops;
    if (failed != want.value("error", false)) return "as_bwd: " + backward.reason;
    if (failed) return {};
    if (!NearVector(*backward.flops, want.at("flops").get<double>())) return "as_bwd flops";
    const Json& bytes = want.at("bytes");
    if (bytes.is_null() != !backward.bytes) return "as_bwd bytes absence";
    if (backward.bytes && !NearVector(*backward.bytes, bytes.get<double>())) {
      return fmt::format("as_bwd bytes {} instead of {}", *backward.bytes, bytes.dump());
    }
  }
  return {};
}

}  // namespace

TEST_CASE("every built-in expression compiles") {
  for (const perf::ModelRows* rows : {&perf::BuiltinRows(), &compat::TraceLensModels()}) {
    perf::ModelSet models(*rows);
    for (const perf::ModelRow& row : rows->rows()) {
      const Status status = models.Check(row);
      CHECK_MESSAGE(status, (status ? "" : status.error().message));
    }
  }
}

TEST_CASE("the models reproduce the reference's vectors") {
  const char* data = std::getenv("JARVIS_TEST_DATA");
  const std::string folder = data != nullptr ? data : JARVIS_SOURCE_DIR "/../shared";
  std::ifstream file(folder + "/spec/perf-model-vectors.jsonl");
  if (!file) {
    MESSAGE("skipped: no perf-model-vectors.jsonl in " << folder << "/spec");
    return;
  }
  // For work on one family: JARVIS_MODEL=gemm. shows that family alone, all of it.
  const char* only = std::getenv("JARVIS_MODEL");
  perf::ModelSet models(compat::TraceLensModels());
  std::map<std::string, int> wrong;
  int count = 0;
  int shown = 0;
  for (std::string line; std::getline(file, line);) {
    const Json vector = Json::parse(line);
    const Json& expect = vector.at("expect");
    const std::string model =
        expect.at("model").is_null() ? "" : expect.at("model").get<std::string>();
    if (only != nullptr && !model.starts_with(only)) continue;
    ++count;
    const auto op = vector.at("op").get<std::string>();
    std::string bad;
    const perf::OpEntry* entry = models.rows().Find(op);
    if (model.empty()) {
      if (entry != nullptr && (entry->row >= 0 || entry->category != expect.at("category"))) {
        bad = "has a model or another category";
      }
    } else if (entry == nullptr || entry->row < 0) {
      bad = "no model";
    } else {
      Call call(vector);
      std::deque<Call> prior;
      if (vector.contains("prior")) {
        for (const Json& event : vector.at("prior")) {
          Json earlier = event;
          if (!earlier.contains("op")) earlier["op"] = event.at("name");
          // The call keeps pointers into its vector.
          static std::deque<Json> kept;
          prior.emplace_back(kept.emplace_back(std::move(earlier)));
          if (prior.back().sequence == call.sequence) {
            call.call.forward = &prior.back().call;
            call.call.forward_model = models.Find(prior.back().call.name);
          }
        }
      }
      bad = Compare(expect, models.rows().rows()[static_cast<std::size_t>(entry->row)], *entry,
                    models, call.call);
    }
    if (!bad.empty()) {
      ++wrong[model.empty() ? "(none)" : model];
      if (only != nullptr || shown++ < 20) {
        MESSAGE("vector " << vector.at("id").dump() << " " << op << " " << model << ": " << bad);
      }
    }
  }
  for (const auto& [model, n] : wrong)
    MESSAGE(model << ": " << n << " wrong");
  int total = 0;
  for (const auto& [model, n] : wrong)
    total += n;
  CHECK_MESSAGE(total == 0, total << " of " << count << " vectors differ");
  CHECK(count > 0);
}

}  // namespace jarvis
