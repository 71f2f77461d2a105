// The report for whoever decides: what differs, what of it the devices explain, what to do.
#pragma once

#include <string>

#include "documents/comparative_facts.h"

namespace jarvis::documents {

std::string FairReport(const ComparativeFacts& facts);

}  // namespace jarvis::documents
