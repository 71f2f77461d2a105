// Places of ids, close together and far apart.
#include "trace/import/xplane/id_table.h"

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

namespace jarvis::trace::xplane {
namespace {

TEST_CASE("ids have the places of their order, each once") {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const IdTable near({5, 3, 4, 3, 9});
  CHECK(near.size() == 4);
  CHECK(near.PlaceOf(3) == 0);
  CHECK(near.PlaceOf(9) == 3);
  CHECK_FALSE(near.Has(6));
  CHECK_FALSE(near.Has(2));
  CHECK_FALSE(near.Has(10));
  CHECK_FALSE(near.Has(kLeast));
  CHECK_FALSE(near.Has(kMost));
  const IdTable far({kMost, kLeast, 0});
  CHECK(far.PlaceOf(kLeast) == 0);
  CHECK(far.PlaceOf(0) == 1);
  CHECK(far.PlaceOf(kMost) == 2);
  CHECK_FALSE(far.Has(1));
  CHECK_FALSE(IdTable().Has(0));
}

}  // namespace
}  // namespace jarvis::trace::xplane
