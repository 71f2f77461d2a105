// What names say of ranks.
#include "trace/rank_label.h"

#include <initializer_list>
#include <string>

#include <doctest/doctest.h>

namespace jarvis::trace {
namespace {

// "0 1 -": the ranks that names stand for beside each other.
std::string Ranks(std::initializer_list<const char*> names) {
  std::vector<RankLabel> labels;
  for (const char* name : names)
    labels.push_back(RankLabelIn(name));
  std::string text;
  for (const auto& rank : RanksOfLabels(labels))
    text += (text.empty() ? "" : " ") + (rank ? std::to_string(*rank) : "-");
  return text;
}

TEST_CASE("names that say a rank") {
  CHECK(Ranks({"rank3.json", "rank_04.json", "rank[5]", "RANK 6 - GPU", "w_r7.json.gz"}) ==
        "3 4 5 6 7");
  CHECK(Ranks({"1769071195.66-TP-0.trace.json.gz", "1769071195.66-TP-1.trace.json.gz"}) == "0 1");
  CHECK(Ranks({"[TP01] 1001"}) == "-");  // alone it may be a size
  CHECK(Ranks({"[TP00] 1000", "[TP01] 1001"}) == "0 1");
  CHECK(Ranks({"TP-1.json"}) == "1");
  CHECK(Ranks({"dp0_pp0_tp1_dcp0_ep1_rank1.1769071195660.pt.trace.json.gz"}) == "1");
}

TEST_CASE("coordinates are numbered as launchers do, without gaps") {
  CHECK(Ranks({"dp0_tp0", "dp0_tp1", "dp1_tp0", "dp1_tp1"}) == "0 1 2 3");
  CHECK(Ranks({"pp0_tp0", "pp0_tp1", "pp1_tp0", "pp1_tp1"}) == "0 1 2 3");
  CHECK(Ranks({"TP-0-DP-0", "TP-1-DP-0", "TP-2-DP-1", "TP-3-DP-1"}) == "0 1 2 3");
  CHECK(Ranks({"TP-0-EP-0", "TP-1-EP-1"}) == "0 1");
  CHECK(Ranks({"dp0_tp0", "dp1_tp0"}) == "0 1");
}

TEST_CASE("names that say none") {
  CHECK(Ranks({"llama_tp8_bs1.json"}) == "-");
  CHECK(Ranks({"http2.json", "step10.json", "host_900.async_llm.json", "deep4.json"}) == "- - - -");
  CHECK(Ranks({"tp4.json", "tp8.json"}) == "- -");
  CHECK(Ranks({"merged-1769071195.trace.json.gz", "gpu-node-07_2211.pt.trace.json"}) == "- -");
  CHECK(Ranks({"rank1769071195660.json"}) == "-");
}

}  // namespace
}  // namespace jarvis::trace
