// Frames of time of real recordings: figures that another program and a pencil give as well.
#include "session/trace_frames.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include "session/loaded_trace.h"

namespace jarvis::session {
namespace {

struct Expected {
  const char* trace;
  std::size_t steps;
  double step_ms;
  double window_ms;
  double busy_ms;
  double unrecorded_ms;
  std::size_t foreign;  // events
};

constexpr double kWithin = 0.03;

const Expected kExpected[] = {
    {"async-flows-v100/trace.json.gz", 6, 117.7, 719.9, 692.8, 0, 614},
    {"dlrm-a2a-v100/rank0.json.gz", 3, 1135.1, 3592, 3386, 0, 94},
    {"dlrm-a2a-v100/rank2.json.gz", 3, 1135.0, 3592, 396.8, 0, 92},
    {"ep-moe-b200/new.json.gz", 1, 28.5, 28.47, 23.53, 0, 3},
    {"ep-moe-b200/ref.json.gz", 1, 34.1, 33.59, 24.58, 0, 4},
    {"gptoss-vllm-b200/trace.json.gz", 1, 87.4, 84.5, 11.6, 0, 0},
    {"kineto18-resnet50-v100/trace.json.gz", 6, 154.7, 882.0, 618.4, 0, 733},
    {"megatron-tp8-a100/rank0.json.gz", 1, 603.2, 595, 373, 0, 0},
    {"norm-layers/trace.json.gz", 3, 2.47, 1068.8, 1.019, 0, 0},
    {"owlv2-mi300x/trace.json.gz", 1, 1096.4, 908.3, 331.8, 0, 0},
    {"qwen1.5-0.5b-h100/trace.json.gz", 1, 35.16, 34.89, 31.91, 0, 509},
    {"qwen1.5-0.5b-mi300x/trace.json.gz", 1, 33.75, 33.13, 29.74, 0, 463},
    {"qwen3-sglang-prefill-mi300x/trace.json.gz", 1, 494.0, 494.0, 492.8, 493.2, 0},
    {"resnet-recompute-mi300x/trace.json.gz", 3, 18.9, 56.52, 56.23, 0, 968},
    {"sam-fast-a100/trace.json.gz", 0, 1405.8, 1377.1, 1257.1, 0, 0},
    {"sam-masks-a100/trace.json.gz", 0, 2821.5, 2796, 1193, 0, 0},
    {"sd35-xdit-mi300x/trace.json.gz", 1, 1195, 1171.6, 712.5, 0, 0},
    {"sglang-decode-mi300x/trace.json.gz", 1, 10.6, 10.45, 9.77, 463.1, 0},
    {"timesformer-h100/trace.json.gz", 1, 382.5, 160.0, 158.4, 0, 0},
    {"triton-compiled/trace.json.gz", 0, 12.80, 12.549, 12.549, 0, 0},
    {"vllm-decode-mi300x/trace.json.gz", 1, 10.74, 10.74, 10.72, 7.8, 0},
};

std::optional<std::string> TracesFolder() {
  const char* data = std::getenv("JARVIS_TEST_DATA");
  if (data == nullptr) return std::nullopt;
  std::string folder = std::string(data) + "/traces/";
  return std::filesystem::exists(folder) ? std::optional(folder) : std::nullopt;
}

double FrameTestMs(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

TEST_CASE("frames of real recordings have the figures of an expert") {
  const auto folder = TracesFolder();
  if (!folder) {
    MESSAGE("skipped: JARVIS_TEST_DATA has no traces");
    return;
  }
  for (const Expected& want : kExpected) {
    CAPTURE(std::string(want.trace));
    if (!std::filesystem::exists(*folder + want.trace)) continue;
    Job job;
    const auto trace = LoadTrace(*folder + want.trace, 1, job);
    REQUIRE(trace.has_value());
    const auto made = FramesOf(**trace, job);
    REQUIRE(made.has_value());
    const analysis::TimeFrames& frames = (*made)->frames;
    CHECK(frames.steps.size() == want.steps);
    CHECK(FrameTestMs(frames.step_ns) == doctest::Approx(want.step_ms).epsilon(kWithin));
    CHECK(FrameTestMs(frames.window_ns) == doctest::Approx(want.window_ms).epsilon(kWithin));
    CHECK(FrameTestMs(frames.window_busy_ns) == doctest::Approx(want.busy_ms).epsilon(kWithin));
    CHECK(FrameTestMs(Length(frames.unrecorded)) ==
          doctest::Approx(want.unrecorded_ms).epsilon(kWithin));
    CHECK(frames.foreign.size() == want.foreign);
    const analysis::Balance& all = frames.whole;
    CHECK(all.host_before_ns + all.busy_ns() + all.idle_ns() + all.unrecorded_ns + all.foreign_ns +
              all.ahead_ns + all.beside_ns + all.after_ns ==
          all.total_ns);
  }
}

// The phase whose name ends so (the first, if that stands alone), or null.
const analysis::Phase* PhaseNamed(const analysis::Phases& phases, const std::string& part,
                                  bool first = false) {
  for (const analysis::Phase& phase : phases.phases) {
    if (phase.first == first && phase.name.ends_with(part)) return &phase;
  }
  return nullptr;
}

struct ExpectedPhase {
  const char* trace;
  const char* name;
  bool first;
  double per_step;  // count
  double each_ms;   // host
  double busy_ms;   // GPU, a step
};

const ExpectedPhase kExpectedPhases[] = {
    {"sd35-xdit-mi300x/trace.json.gz", "encode_prompt", false, 1, 123, 35.1},
    {"sd35-xdit-mi300x/trace.json.gz", "Transformer2DModel", false, 4, 248.7, 627.7},
    {"sd35-xdit-mi300x/trace.json.gz", "Decoder", false, 1, 8.19, 49.0},
    {"sam-fast-a100/trace.json.gz", "generate_masks 0 1 0", true, 1, 95.3, 379},
    {"sam-fast-a100/trace.json.gz", "generate_masks 0 1 0", false, 16, 55.3, 828},
    {"sam-masks-a100/trace.json.gz", "before the 16 repeated blocks", false, 1, 404, 402},
    {"sam-masks-a100/trace.json.gz", "repeated block", false, 16, 145, 790},
    {"owlv2-mi300x/trace.json.gz", "__next__", false, 5, 141, 0},
    {"owlv2-mi300x/trace.json.gz", "Owlv2ForObjectDetection", false, 5, 69.2, 331.8},
    {"timesformer-h100/trace.json.gz", "preprocess", false, 1, 217.5, 0},
    {"kineto18-resnet50-v100/trace.json.gz", "loader", false, 1, 44.1, 0},
    {"kineto18-resnet50-v100/trace.json.gz", "forward", false, 1, 37.3, 36.1},
    {"kineto18-resnet50-v100/trace.json.gz", "backward", false, 1, 34.1, 65.4},
    {"kineto18-resnet50-v100/trace.json.gz", "optimizer", false, 1, 22.8, 1.29},
    {"megatron-tp8-a100/rank0.json.gz", "repeated block", false, 40, 11.8, 353.7},
    {"ep-moe-b200/new.json.gz", "repeated block", false, 10, 2.836, 23.5},
    {"ep-moe-b200/ref.json.gz", "repeated block", false, 10, 3.361, 24.6},
};

TEST_CASE("phases of real recordings have the figures of an expert") {
  const auto folder = TracesFolder();
  if (!folder) {
    MESSAGE("skipped: JARVIS_TEST_DATA has no traces");
    return;
  }
  for (const ExpectedPhase& want : kExpectedPhases) {
    CAPTURE(std::string(want.trace));
    CAPTURE(std::string(want.name));
    if (!std::filesystem::exists(*folder + want.trace)) continue;
    Job job;
    const auto trace = LoadTrace(*folder + want.trace, 1, job);
    REQUIRE(trace.has_value());
    const auto made = FramesOf(**trace, job);
    REQUIRE(made.has_value());
    const analysis::Phases& phases = (*made)->phases;
    const analysis::Phase* phase = PhaseNamed(phases, want.name, want.first);
    REQUIRE(phase != nullptr);
    const double steps = phases.steps == 0 ? 1 : static_cast<double>(phases.steps);
    CHECK(static_cast<double>(phase->count) / steps == doctest::Approx(want.per_step));
    CHECK(FrameTestMs(phase->host_each_ns) == doctest::Approx(want.each_ms).epsilon(kWithin));
    CHECK(FrameTestMs(phase->gpu_busy_ns) / steps ==
          doctest::Approx(want.busy_ms).epsilon(kWithin));
  }
}

}  // namespace
}  // namespace jarvis::session
