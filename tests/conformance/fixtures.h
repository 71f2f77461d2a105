// The tools, resources and prompts that the official conformance suite calls by name.
#pragma once

#include "mcp/catalog.h"

namespace jarvis {

// Adds the tools, and sets everything else of the catalog.
void AddConformanceFixtures(mcp::Catalog& catalog);

}  // namespace jarvis
