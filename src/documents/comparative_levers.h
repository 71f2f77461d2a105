// What could be done about the candidate of a comparison, in words that its report and its console
// output share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/comparative_facts.h"

namespace jarvis::documents {

// One way to what a lever saves.
struct LeverWay {
  char path = 'A';    // 'A': fusion, algorithm, API; 'B': kernels and settings
  std::string words;  // without a full stop
  std::string saves;  // "up to 3.84 ms"; empty: not known
};

// What could be done about the candidate's time, in the order of its report.
struct LeverText {
  std::string title;
  std::string why;              // a clause, for a table
  std::string gap;              // against the baseline; of the candidate's own: what is wrong
  std::vector<LeverWay> ways;   // the better one first; empty: none is known
  std::string saves;            // of wall time, short, for a table; empty: not known
  double gpu_ms = 0;            // of GPU time, of a unit; 0: it is about the host
  bool shares_kernels = false;  // with another of these
  std::string impact;
  double order_ms = 0;                        // what it is worth, of a unit, next to others
  const findings::CompareRow* row = nullptr;  // with the largest gap; null: none
  bool own = false;  // of the candidate by itself, whatever the baseline does
};
// What the baseline reaches is possible; of a bound of one side alone less is to be had.
inline constexpr double kBoundPart = 0.8;
// "Path A: ...: up to 1.19 ms. Path B: ..."; empty: no way is known.
std::string ActionText(const LeverText& lever);
// The beginning of the better way, for a cell of a table.
std::string ChangeClause(const LeverText& lever);
// Which levers are the candidate's own, and in what order all are; empty: nothing to say.
std::string LeverOrderText(const std::vector<LeverText>& levers);
// Which of them do not add up, and what those of GPU time come to on the clock; empty: all do.
std::string LeverSumText(const ComparativeFacts& facts, const std::vector<LeverText>& levers);
// What is worth most wall time first.
std::vector<LeverText> PairLevers(const ComparativeFacts& facts);

}  // namespace jarvis::documents
