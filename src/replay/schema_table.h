// The operator schemas that the program carries: made from a real torch by make_op_schemas.py.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded_file.h"
#include "replay/op_schema.h"

namespace jarvis::replay {

// data/op_schemas_*.txt, as the build put them into the program.
std::span<const EmbeddedFile> ReplaySchemaFiles();

}  // namespace jarvis::replay

namespace jarvis::replay {

// The overloads of an operator ("aten::add") in the order in which they are tried; empty: unknown.
// Any thread.
std::vector<OpSchema> OverloadsOf(std::string_view op);

// What the table was made from: "1.13.1".
std::string_view SchemaTableVersion();

}  // namespace jarvis::replay
