// What of a front fits a screen: the first fixes in a few words, and one line on trust. A terminal
// and the view beside an answer show the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/front.h"

namespace jarvis::documents {

// Markdown on one line with its escapes resolved; code keeps its backquotes.
std::string PlainLine(std::string_view markdown);

// "GPU: GEMMs" as a bar's legend has it: "GEMMs"; "GPU idle: host in Python" is "idle: host in
// Python".
std::string BarName(const std::string& part);

// Up to five rows that say what to do, in their order.
std::vector<const FixRow*> FirstFixRows(const Front& front);
// "1, 2", or a dash where it is a row beside findings.
std::string NumberOf(const FixRow& row);
// Its way out; of several changes the first, and how many more there are. Ends with a full stop.
std::string FirstAction(const FixRow& row);

// "Trust: Only one step is recorded. 2 more below." Empty: there is nothing to say.
std::string FirstTrust(const Front& front);

}  // namespace jarvis::documents
