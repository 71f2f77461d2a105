// What titles call the operations of a finding.
#include "documents/subjects.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace jarvis::documents {
namespace {

findings::Analysis With(const std::vector<std::string>& names) {
  findings::Analysis analysis;
  findings::CategoryAnalysis category;
  category.key = "gemm";
  for (std::size_t i = 0; i < names.size(); ++i) {
    findings::Operation operation;
    operation.id = "gemm." + std::to_string(i + 1);
    operation.name = names[i];
    category.operations.push_back(std::move(operation));
  }
  analysis.categories.push_back(std::move(category));
  return analysis;
}

findings::Finding Of(const std::string& subject, std::size_t members) {
  findings::Finding finding;
  finding.tier = findings::Tier::kCompute;
  finding.subject = subject;
  for (std::size_t i = 0; i < members; ++i)
    finding.members.push_back("gemm." + std::to_string(i + 1));
  return finding;
}

TEST_CASE("a sentence names the operations that a title counts") {
  const findings::Analysis mixed = With({"aten::copy_", "aten::mul", "aten::copy_"});
  CHECK(SubjectsInProse(mixed, Of("aten::copy_", 3), false) ==
        "`aten::copy_` and `aten::mul` (3 shapes in all)");
  const findings::Analysis many = With({"aten::a", "aten::b", "aten::c", "aten::d"});
  CHECK(SubjectsInProse(many, Of("aten::a", 4), false) ==
        "`aten::a`, `aten::b` and others (4 shapes in all)");
  CHECK(SubjectsInProse(With({"topk", "sort"}), Of("topk", 2), false) ==
        "2 kernels, the largest `topk`,");
  // Of one op, or one call, there is nothing more to name.
  const findings::Analysis alike = With({"aten::mm", "aten::mm"});
  CHECK(SubjectsInProse(alike, Of("aten::mm", 2), false) == "2 shapes of `aten::mm`");
  CHECK(SubjectsInProse(alike, Of("aten::mm", 1), false) == "`aten::mm`");
}

TEST_CASE("several operations are told by their number, one by its sizes") {
  const findings::Analysis alike = With({"aten::mm", "aten::mm"});
  findings::Finding one = Of("aten::mm", 1);
  one.subject_args = "(8,4) bf16<br>(4,2) bf16";
  CHECK(SubjectsText(alike, one, true) == "`aten::mm` 8x4x2 bf16");
  CHECK(SubjectsText(alike, one, false) == "`aten::mm`");
  findings::Finding two = Of("aten::mm", 2);
  two.subject_args = one.subject_args;
  CHECK(SubjectsText(alike, two, true) == "2 shapes of `aten::mm`");
  CHECK(SubjectSizes(two) == "8x4x2 bf16");
  CHECK(SubjectsText(With({"aten::copy_", "aten::mul", "aten::add"}), Of("aten::copy_", 3),
                     false) == "3 shapes of `aten::copy_` and other ops");
  // Kernels without ops have no shapes to count.
  CHECK(SubjectsText(With({"topk", "sort"}), Of("topk", 2), false) == "2 kernels such as `topk`");
  // A set of kernels is its subject, whatever ops they belong to.
  findings::Finding chain = Of("aten::mm", 2);
  chain.rule = findings::Pattern::kShortKernelChain;
  CHECK(SubjectsText(alike, chain, false) == "`aten::mm`");
}

TEST_CASE("compute units have the device's own name") {
  findings::Analysis analysis;
  const std::string text = "18 blocks on 132 compute units";
  CHECK(InDeviceWords(analysis, text) == text);  // an unknown device
  analysis.context.architecture = 90;
  CHECK(InDeviceWords(analysis, text) == "18 blocks on 132 SMs");
  analysis.context.amd = true;
  CHECK(InDeviceWords(analysis, text) == text);
}

}  // namespace
}  // namespace jarvis::documents
