#include "compat/tracelens_compare.h"

namespace jarvis::compat {

analysis::CompareRules TraceLensCompareRules() {
  analysis::CompareRules rules;
  // P22: kernels are joined by name alone, and rows with equal keys multiply.
  rules.kernels_by_op = false;
  rules.join.pair_equal_keys = false;
  rules.join.ratios_both_ways = false;
  rules.join.presence_by_row = false;
  // A split table without rows loses its columns too.
  rules.join.keep_empty_columns = false;
  rules.join.widen_integers = true;
  rules.further_keys = false;
  rules.all_families = false;
  rules.collectives = false;
  rules.skip_missing = false;
  return rules;
}

}  // namespace jarvis::compat
