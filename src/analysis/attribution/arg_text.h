// An op's recorded arguments as Python tuples: "((512, 64), ())", "('c10::Half', '')".
#pragma once

#include <string>
#include <string_view>

namespace jarvis::analysis {

// Raw JSON as Python prints it with every list turned into a tuple. Text that is no JSON comes back
// as a quoted string: it is data, whatever it holds.
std::string TupleText(std::string_view json);

// The same with lists as lists: "[[512, 64], []]".
std::string ListLiteral(std::string_view json);

}  // namespace jarvis::analysis
