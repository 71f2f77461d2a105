// Whose session makes room when there are too many.
#include "mcp/http_sessions.h"

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "mcp_support.h"

namespace jarvis::mcp {
namespace {

TEST_CASE("many sessions of one token take nobody else's") {
  Gate gate;
  Server server({TestTools(gate)}, TestInfo());
  SessionTable table(SessionLimits{.count = 4});
  const auto create = [&](const std::string& principal) {
    const SessionTable::Hold hold = table.Create(principal, server.ConnectAs(principal, principal));
    return hold == nullptr ? std::string() : hold->id;
  };
  const auto lives = [&](const std::string& id, const std::string& principal) {
    return table.Find(id, principal) != nullptr;
  };
  const std::string quiet = create("quiet");  // the oldest of all
  std::vector<std::string> greedy;
  for (int i = 0; i < 6; ++i)
    greedy.push_back(create("greedy"));
  CHECK(lives(quiet, "quiet"));
  CHECK_FALSE(lives(greedy[2], "greedy"));
  CHECK(lives(greedy[3], "greedy"));
  CHECK_FALSE(create("late").empty());
  CHECK(lives(quiet, "quiet"));
  CHECK_FALSE(lives(quiet, "greedy"));
}

TEST_CASE("what is in use makes no room") {
  Gate gate;
  Server server({TestTools(gate)}, TestInfo());
  SessionTable table(SessionLimits{.count = 2});
  const SessionTable::Hold first = table.Create("a", server.ConnectAs("a", "a"));
  const SessionTable::Hold second = table.Create("a", server.ConnectAs("a", "a"));
  REQUIRE(first != nullptr);
  REQUIRE(second != nullptr);
  CHECK(table.Create("b", server.ConnectAs("b", "b")) == nullptr);
}

}  // namespace
}  // namespace jarvis::mcp
