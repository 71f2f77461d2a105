// The catalogue of fixes: its files, what is refused in one, and a user's words over it.
#include "levers/fixes.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "levers/catalogue_files.h"
#include "levers/placeholders.h"

namespace jarvis::levers {
namespace {

using Keys = std::vector<std::string>;

TEST_CASE("the shipped files are read, each under its own identifier") {
  const auto made = ReadFixes(FixFiles(), ActionFiles());
  const std::string why = made ? "" : made.error().message;
  INFO(why);
  REQUIRE(made);
  CHECK(made->patterns().size() == static_cast<std::size_t>(Pattern::kCount));
  CHECK(made->advices().size() == static_cast<std::size_t>(Advice::kCount));
  CHECK(Info(Pattern::kTf32Off).key == "tf32_off");
  CHECK(Info(Advice::kChannelsLast).key == "channels_last");
  std::set<std::string> ids;
  for (const PatternInfo& info : made->patterns()) {
    CAPTURE(info.key);
    CHECK(&Info(info.pattern) - &Info(Pattern{}) == static_cast<int>(info.pattern));
    CHECK(ids.insert(info.key).second);
  }
  for (const AdviceInfo& info : made->advices()) {
    CAPTURE(info.key);
    CHECK(ids.insert(info.key).second);  // a user's file names both by id
  }
}

TEST_CASE("an action that takes others along is one that a fix has") {
  std::set<std::string> keys = {"compile_model"};
  const auto check = [&](const Action& action) {
    if (!action.part_of.empty()) CHECK(keys.contains(action.part_of));
  };
  for (const AdviceInfo& info : Shipped().advices())
    keys.insert(info.action.key);
  for (const AdviceInfo& info : Shipped().advices())
    check(info.action);
  for (const RuleRow& row : Shipped().rules()) {
    check(row.action_a);
    check(row.action_b);
  }
}

// Settings, calls and classes of PyTorch, as texts of fixes name them.
bool NamesPyTorch(std::string_view text) {
  for (const std::string_view word :
       {"torch", "PyTorch", "PYTORCH", "DataLoader", "nn.", ".cpu()", "non_blocking", "no_sync",
        "async_op", "zero_grad", "channels_last", "scaled_dot_product_attention", "with_stack",
        "num_workers", "reduce-overhead", "max-autotune", "TORCHINDUCTOR", "FlashInfer"}) {
    if (text.find(word) != text.npos) return true;
  }
  return false;
}

TEST_CASE("what only PyTorch has says so, and is said elsewhere in that framework's words") {
  // Of a server's settings, which run on PyTorch; a colleague's library of kernels.
  const std::set<std::string> served = {"graphs_vllm", "graphs_sglang", "fuse_all_reduce_vllm",
                                        "fuse_all_reduce_sglang", "attention_ck"};
  for (const RuleRow& row : Shipped().rules()) {
    CAPTURE(Info(row.pattern).key);
    if (NamesPyTorch(row.path_a + row.path_b)) CHECK(row.framework == "PyTorch");
    CHECK((row.framework.empty() || row.framework == "PyTorch"));
    if (row.framework.empty()) CHECK(row.elsewhere.empty());
  }
  for (const AdviceInfo& info : Shipped().advices()) {
    CAPTURE(info.key);
    if (NamesPyTorch(info.what) && !served.contains(info.key)) CHECK(info.framework == "PyTorch");
    if (info.framework.empty()) CHECK(info.elsewhere.empty());
  }
  for (const std::string_view framework :
       std::initializer_list<std::string_view>{"JAX", "TensorFlow", "XLA", kAnyFramework}) {
    const Fixes there = ForFramework(Shipped(), framework);
    for (const RuleRow& row : there.rules()) {
      CAPTURE(Info(row.pattern).key);
      if (row.framework.empty()) continue;
      CHECK(row.path_a.find("torch") == std::string::npos);
      CHECK(row.path_b.find("torch") == std::string::npos);
    }
    for (const AdviceInfo& info : there.advices()) {
      CAPTURE(info.key);
      CHECK(IsKnownIn(info.advice, framework) == (info.framework.empty() || !info.what.empty()));
    }
  }
  CHECK(ForFramework(Shipped(), "JAX").Of(Advice::kGpuGraphs).what.find("XLA_FLAGS") !=
        std::string::npos);
  CHECK(WordsFor("PyTorch") == "");
  CHECK(WordsFor("JAX") == "JAX");
  CHECK(WordsFor("ggml") == kAnyFramework);
  CHECK(WordsFor("") == kAnyFramework);
  const Fixes anywhere = ForFramework(Shipped(), kAnyFramework);
  for (const AdviceInfo& info : anywhere.advices()) {
    CAPTURE(info.key);
    if (!info.framework.empty()) CHECK_FALSE(NamesPyTorch(info.what));
  }
  CHECK(anywhere.Of(Advice::kCompileGraphs).what.find("HIP graph") != std::string::npos);
  CHECK_FALSE(IsKnownIn(Advice::kCompile, "XLA"));
  CHECK(IsKnownIn(Advice::kCompile, ""));
}

TEST_CASE("what a text names") {
  CHECK(ShortFormFacts("Pad {sizes} to {padded}. Then {rest}.") == Keys{"sizes", "padded"});
  CHECK(ShortFormFacts("[[{before}]]capture it (`x`; y)[[; {capture}]]") == Keys{"before"});
  CHECK(ShortFormFacts("[[Merge: {merge}.]] [[Run: {option}.]]") == Keys{"merge", "option"});
  CHECK(ShortFormFacts("Call `x`[[ in {file}]]. It {masks}.") == Keys{"file"});
  const auto all = PlaceholdersOf("a {b}[[ c {d}]]");
  REQUIRE(all.size() == 2);
  CHECK_FALSE(all[0].optional);
  CHECK(all[1].optional);
  for (const char* good : {"", "a", "{a}", "[[{a}]] [b]", "[[{a}.]]"})
    CHECK(IsWellFormed(good));
  for (const char* bad : {"{a", "a}", "[[a", "a]]", "[[a[[b]]]]", "{[[a]]}", "{}", "{a{b}}"})
    CHECK_FALSE(IsWellFormed(bad));
}

std::string ErrorOf(std::string_view name, std::string_view fix) {
  const EmbeddedFile file{name, fix};
  const auto made = ReadFixes({&file, 1}, {});
  return made ? "" : made.error().message;
}

TEST_CASE("a file of the catalogue that is wrong is refused with its name and key") {
  CHECK(ErrorOf("a", R"({"id": "a", "label": "b"})").empty());
  const std::string rule =
      R"({"id": "a", "label": "b", "signature": "c", "evidence": "d", "excluded": "e", )"
      R"("target": "f")";
  CHECK(ErrorOf("a", rule + R"(, "source": ["g", "h"]})").empty());
  CHECK(ErrorOf("a", rule + "}") == "a, \"source\": expected a text");
  CHECK(ErrorOf("a", "{") == "a: expected a JSON object");
  CHECK(ErrorOf("a", R"({"id": "b", "label": "c"})") == "a, \"id\": expected the file's name");
  CHECK(ErrorOf("a", R"({"id": "a"})") == "a, \"label\": expected a text");
  CHECK(ErrorOf("a", R"({"id": "a", "label": "b", "notable": 1})").starts_with("a, \"notable\""));
  CHECK(ErrorOf("a", R"({"id": "a", "label": "b", "pathA": "c"})").starts_with("a, \"pathA\""));
  CHECK(
      ErrorOf("a", R"({"id": "a", "label": "b", "path_a": "c"})").starts_with("a, \"signature\""));
  CHECK(ErrorOf("a", R"({"id": "a", "label": "{b"})").starts_with("a, \"label\""));
  CHECK(ErrorOf("a", R"({"id": "a", "label": ["b", 1]})").starts_with("a, \"label\""));
  const auto line = [&](std::string_view member) {
    return ErrorOf("a", rule + R"(, "source": "g", "line": )" + std::string(member) + "}");
  };
  CHECK(line(R"({"kinds": ["product"], "saves": [0, 0.5, 1], "when": ["!amd"]})").empty());
  CHECK(line("[]") == "a, \"line\": expected an object");
  CHECK(line(R"({"saves": [0, 0.5, 1]})") == "a, \"kinds\": expected a list of texts");
  CHECK(line(R"({"kinds": "product", "saves": [0, 0, 1]})").starts_with("a, \"kinds\""));
  CHECK(line(R"({"kinds": ["product"]})").starts_with("a, \"saves\""));
  for (const char* saves :
       {"[0, 0.5]", "[0.5, 0.4, 1]", "[0, 0.5, 1.5]", "[0, 0, 0]", "[-1, 0, 1]"}) {
    CAPTURE(saves);
    CHECK(line(fmt::format(R"({{"kinds": ["product"], "saves": {}}})", saves))
              .starts_with("a, \"saves\""));
  }
  CHECK(line(R"({"kinds": ["product"], "saves": [0, 0, 1], "x": 1})").starts_with("a, \"x\""));
  CHECK(ErrorOf("a", R"({"id": "a", "label": "b", "line": {"kinds": ["x"], "saves": [0, 0, 1]}})")
            .starts_with("a, \"signature\""));
  const EmbeddedFile action{"a", R"({"id": "a", "path": "C", "what": "b"})"};
  const EmbeddedFile most{"a", R"({"id": "a", "path": "A", "what": "b", "most": 2})"};
  CHECK(ReadFixes({}, {&most, 1}).error().message.starts_with("a, \"most\""));
  for (const char* needs :
       {"1", R"({"cuda": 1})", R"({"tokens_max": 0})", R"({"x": true})", R"({"architectures": 90})",
        R"({"message_mib": {"90": {"2": 0}}})", R"({"message_mib": {"sm90": {"2": 1}}})"}) {
    CAPTURE(needs);
    const std::string text =
        fmt::format(R"({{"id": "a", "path": "A", "what": "b", "needs": {}}})", needs);
    const EmbeddedFile file{"a", text};
    CHECK_FALSE(ReadFixes({}, {&file, 1}));
  }
  CHECK(ReadFixes({}, {&action, 1}).error().message == "a, \"path\": expected \"A\" or \"B\"");
}

TEST_CASE("a user's words stand over ours, and nothing else does") {
  const auto made = ShippedWith("mine.json", R"({"rows": [], "fixes": [
    {"id": "unaligned_kernel", "label": "odd sizes", "path_a": "Run our padder: {padded} for {sizes}."},
    {"id": "channels_last", "what": ["set", "`--nhwc`"]}]})");
  REQUIRE(made);
  REQUIRE(*made != nullptr);
  const Fixes& fixes = **made;
  CHECK(fixes.Of(Pattern::kUnalignedKernel).what == "odd sizes");
  CHECK(fixes.Of(Pattern::kUnalignedKernel).notable == Info(Pattern::kUnalignedKernel).notable);
  CHECK(fixes.RuleOf(Pattern::kUnalignedKernel)->path_a.starts_with("Run our padder"));
  CHECK(fixes.RuleOf(Pattern::kUnalignedKernel)->evidence ==
        RuleOf(Pattern::kUnalignedKernel)->evidence);
  // Which findings are one action stays what our text says.
  CHECK(fixes.RuleOf(Pattern::kUnalignedKernel)->action_a.facts == Keys{"sizes", "padded"});
  CHECK(fixes.Of(Advice::kChannelsLast).what == "set `--nhwc`");
  CHECK(fixes.Of(Advice::kChannelsLast).why == Info(Advice::kChannelsLast).why);
  const auto none = ShippedWith("mine.json", R"({"rows": []})");
  REQUIRE(none);
  CHECK(*none == nullptr);
}

TEST_CASE("a platform has the words made for it, under those of a user") {
  const auto attention = [](const Fixes& fixes) {
    return fixes.Of(Advice::kAttentionCudnn).what +
           fixes.RuleOf(Pattern::kAttentionGeneration)->path_b +
           fixes.RuleOf(Pattern::kAttentionPackage)->path_a;
  };
  const std::string hopper = attention(ForPlatform(Shipped(), "Hopper"));
  CHECK(hopper.find("FlashAttention-3") != std::string::npos);
  CHECK(hopper.find("FlashAttention-4") == std::string::npos);
  const std::string blackwell = attention(ForPlatform(Shipped(), "Blackwell"));
  CHECK(blackwell.find("FlashAttention-4") != std::string::npos);
  CHECK(blackwell.find("FlashAttention-3") == std::string::npos);
  // Where the device is not known, or is another, an action names neither; a rule that asks for one
  // of the two names each with its device.
  for (const std::string_view other : {"", "ROCm"}) {
    const Fixes words = ForPlatform(Shipped(), other);
    CHECK(words.Of(Advice::kAttentionCudnn).what.find("FlashAttention-3") == std::string::npos);
    CHECK(attention(words).find("FlashAttention-3 (Hopper)") != std::string::npos);
    CHECK(attention(words).find("FlashAttention-4 on Blackwell") != std::string::npos);
  }
  const auto mine = ShippedWith("mine.json", R"({"fixes": [
    {"id": "attention_generation", "path_b": "Call our attention."},
    {"id": "channels_last", "what": "set `--nhwc`"}]})");
  REQUIRE(mine);
  const Fixes fixes = ForPlatform(**mine, "Hopper");
  CHECK(fixes.RuleOf(Pattern::kAttentionGeneration)->path_b == "Call our attention.");
  CHECK(ForPlatform(**mine, "ROCm").Of(Advice::kChannelsLast).what == "set `--nhwc`");
}

std::string Refusal(const std::string& entry) {
  const auto made = ShippedWith("mine.json", R"({"fixes": [)" + entry + "]}");
  return made ? "" : made.error().message;
}

TEST_CASE("a user's words that cannot stand are refused with the fix and the key") {
  const auto begins = [](const std::string& entry, std::string_view wanted) {
    const std::string message = Refusal(entry);
    CAPTURE(message);
    CHECK(message.find(wanted) != std::string::npos);
  };
  begins("1", "mine.json, \"fixes\": expected a list of objects");
  begins(R"({"label": "x"})", "mine.json, fix 1, \"id\": expected the id of a fix");
  begins(R"({"id": "tf32_of"})", "is it tf32_off?");
  begins(R"({"id": "tf32_off", "notable": false})", "fix tf32_off, \"notable\": expected one of");
  begins(R"({"id": "tf32_off", "action_b": "x"})", "\"action_b\": expected one of");
  begins(R"({"id": "tf32_off", "path_b": 1})", "\"path_b\": expected a text or a list of texts");
  begins(R"({"id": "tf32_off", "path_b": ""})", "\"path_b\": expected a text of 1 to");
  begins(R"({"id": "tf32_off", "path_b": "a\nb"})", "without line ends");
  begins(R"({"id": "tf32_off", "path_b": "a | b"})", "a text without |");
  begins(R"({"id": "tf32_off", "path_b": "a `b"})", "backticks in pairs");
  begins(R"({"id": "tf32_off", "path_b": "{environment"})", "that are closed");
  begins(R"({"id": "tf32_off", "path_b": "{kernel}"})",
         "of {placeholders} {environment}, not {kernel}");
  begins(R"({"id": "tf32_off", "evidence": "at {tflops_achieved}"})", "in [[double brackets]]");
  begins(R"({"id": "accidental_fp64", "path_b": "x"})", "nothing: this fix has no such text");
  begins(R"({"id": "channels_last", "label": "x"})", "\"label\": expected one of what, why");
}

}  // namespace
}  // namespace jarvis::levers
