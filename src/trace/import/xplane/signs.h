// Who wrote the program of a profile, and whether it trains: as names of its events and scopes of
// its ops show, which each framework writes in its own way.
#pragma once

#include <string>
#include <string_view>

#include "trace/import/xplane/op_table.h"
#include "trace/import/xplane/space.h"

namespace jarvis::trace::xplane {

struct Signs {
  std::string framework = "XLA";    // "JAX", "TensorFlow", or nothing says which
  std::string backward, optimizer;  // a scope of each; empty: there is none
};

// What one name shows: an event's, or the path of scopes of an op.
void LookAtName(std::string_view name, Signs* signs);
Signs SignsOf(const Space& space, const OpTable& ops);

}  // namespace jarvis::trace::xplane
