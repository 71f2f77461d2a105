// The messages of stdio_million and what a server owes for each. The same seed makes the same
// messages; nothing here does I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis::load {

enum class Owed {
  kEmpty,         // result {}
  kDiscovery,     // of server/discover
  kTools,         // of tools/list
  kHandshake,     // of initialize; `text` is the version
  kProduct,       // of gemm_roofline; `number` is FLOP
  kToolError,     // a result with isError
  kError,         // `number` is the code
  kAcknowledged,  // the notification for a subscription
  kListenEnd,     // the result of a subscription
};

// One answer.
struct Debt {
  Owed what = Owed::kEmpty;
  std::string id;  // as JSON; empty: the message had none that could be read
  bool stateless = false;
  int revision = 0;  // index into kVersions
  std::int64_t number = 0;
  std::string text;
  bool is_call = false;    // runs on the server's threads, so the answer may overtake others
  bool cancelled = false;  // may be left out
  bool twin = false;       // sent twice with this id: one of the two may be refused
};

struct Outgoing {
  std::string line;
  std::vector<Debt> debts;
  bool as_array = false;  // the answers come in one array
};

inline constexpr std::string_view kVersions[] = {"2024-11-05", "2025-03-26", "2025-06-18",
                                                 "2025-11-25", "2026-07-28"};

class MessageMaker {
 public:
  explicit MessageMaker(std::uint64_t seed) : random_(seed) {}

  // Every huge message once, so that what they make the server hold is held from the beginning.
  std::vector<Outgoing> First();
  // The next message, or a few that belong together, in the order in which they are to be sent.
  std::vector<Outgoing> Next();
  // Subscriptions that stay open until the input ends.
  std::vector<Outgoing> Last();

 private:
  static constexpr std::uint64_t kHugeKinds = 6;

  using Makers = std::vector<Outgoing> (MessageMaker::*)();

  std::uint64_t Below(std::uint64_t end) { return random_() % end; }
  template <typename T, std::size_t N>
  const T& One(const T (&items)[N]) {
    return items[Below(N)];
  }
  std::string Id();
  Debt MakeDebt(Owed what, const std::string& id, bool stateless, std::int64_t number = 0) const;
  Outgoing Request(const std::string& id, const std::string& method, const std::string& params,
                   bool stateless, Debt debt) const;
  Outgoing Failing(const std::string& line, int code, const std::string& id = {}) const;
  Outgoing Ping(const std::string& id) const;
  Outgoing Product(const std::string& id, bool stateless);
  Outgoing Subscription(const std::string& id) const;

  std::vector<Outgoing> Valid();
  std::vector<Outgoing> Calls();
  std::vector<Outgoing> FailingCalls();
  std::vector<Outgoing> Handshake();
  std::vector<Outgoing> BrokenText();
  std::vector<Outgoing> WrongShape();
  std::vector<Outgoing> WrongRequest();
  std::vector<Outgoing> Silent();
  std::vector<Outgoing> Batch();
  std::vector<Outgoing> Huge();
  Outgoing HugeOne(std::uint64_t which);
  std::vector<Outgoing> CancelledCall();
  std::vector<Outgoing> Subscribed();
  std::vector<Outgoing> Twins();
  void AddElement(Outgoing& batch);

  std::mt19937_64 random_;
  std::uint64_t next_id_ = 0;
  int negotiated_ = 3;  // what a server takes for granted before any handshake
};

}  // namespace jarvis::load
