#include "load/stdio_million_ledger.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace jarvis::load {
namespace {

constexpr int kInvalidRequest = -32600;
constexpr int kFirstWithStructured = 2;  // 2025-06-18

void Require(bool right, const std::string& what) {
  if (!right) throw std::runtime_error(what);
}

void CheckProduct(const Debt& debt, const Json& result) {
  Require(!result.value("isError", false), "a product failed");
  Require(result.at("content").at(0).at("type") == "text", "no text");
  if (debt.revision < kFirstWithStructured) {
    Require(!result.contains("structuredContent"), "structured in a revision without");
    return;
  }
  const Json& row = result.at("structuredContent").at("rows").at(0);
  const auto size = [&](std::size_t i) { return row.at(i).get<std::int64_t>(); };
  Require(2 * size(2) * size(3) * size(4) == debt.number, "another product's sizes");
  const double gflop = static_cast<double>(debt.number) / 1e9;
  Require(std::abs(row.at(6).get<double>() - gflop) < 6e-4 + gflop * 1e-3, "a wrong FLOP count");
}

void CheckTools(const Debt& debt, const Json& result) {
  const Json& tools = result.at("tools");
  Require(tools.size() > 3, "too few tools");
  for (const Json& tool : tools) {
    Require(tool.at("inputSchema").at("type") == "object", "a tool without a schema");
    Require(tool.contains("outputSchema") == (debt.revision >= kFirstWithStructured),
            "outputSchema in the wrong revision");
  }
  Require(result.contains("ttlMs") == debt.stateless, "ttlMs in the wrong era");
}

void CheckResult(const Debt& debt, const Json& result) {
  Require(result.is_object(), "the result is no object");
  Require((result.value("resultType", "") == "complete") == debt.stateless,
          "resultType in the wrong era");
  switch (debt.what) {
    case Owed::kEmpty: return Require(result.empty(), "the result is not empty");
    case Owed::kDiscovery:
      return Require(result.at("supportedVersions").size() == std::size(kVersions), "versions");
    case Owed::kTools: return CheckTools(debt, result);
    case Owed::kHandshake:
      return Require(result.at("protocolVersion") == debt.text, "another version");
    case Owed::kProduct: return CheckProduct(debt, result);
    case Owed::kToolError:
      return Require(
          result.at("isError") == true &&
              result.at("content").at(0).at("text").get_ref<const std::string&>().size() > 2,
          "no tool error");
    case Owed::kListenEnd:
      return Require(
          result.at("_meta").at("io.modelcontextprotocol/subscriptionId").dump() == debt.id,
          "another subscription");
    case Owed::kError:
    case Owed::kAcknowledged: break;
  }
  throw std::runtime_error("a result instead of an error");
}

void CheckAnswer(const Debt& debt, const Json& answer) {
  Require(answer.at("jsonrpc") == "2.0", "no jsonrpc");
  Require(answer.contains("result") != answer.contains("error"), "not one of result and error");
  if (answer.contains("result")) return CheckResult(debt, answer["result"]);
  const Json& error = answer["error"];
  Require(error.at("message").is_string(), "an error without a message");
  if (debt.twin && error.at("code") == kInvalidRequest) return;
  Require(debt.what == Owed::kError, "an error instead of a result");
  Require(error.at("code") == debt.number, "another code than " + std::to_string(debt.number));
}

}  // namespace

void Ledger::Owe(const Outgoing& message, std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t in = message.as_array ? number : 0;
  if (message.as_array) batches_[in] = {message.debts.size(), {}, number};
  bool has_name = false;
  for (const Debt& debt : message.debts) {
    if (!debt.cancelled) ++debts_;
    if (debt.is_call && !debt.cancelled) ++calls_;
    has_name = has_name || !debt.id.empty();
    if (!debt.id.empty()) {
      named_[debt.id].push_back({debt, number, in});
    } else if (in != 0) {
      batches_[in].anonymous.push_back(debt);
    } else {
      anonymous_.push_back({debt, number, 0});
    }
  }
  if (message.as_array && !has_name) nameless_batches_.push_back(in);
}

void Ledger::Settle(std::string_view line) {
  {
    const std::lock_guard lock(mutex_);
    ++answers_;
    try {
      if (!SettleRepeated(line)) SettleOne(Json::parse(line));
    } catch (const std::exception& error) {
      throw std::runtime_error(std::string(error.what()) +
                               ", in: " + std::string(line.substr(0, 400)));
    }
  }
  paid_.notify_one();
}

// The list of tools is long and always the same for a revision: it is checked once, and compared
// byte by byte from then on. True: it was one of those.
bool Ledger::SettleRepeated(std::string_view line) {
  constexpr std::string_view kStart = R"({"jsonrpc":"2.0","id":)";
  if (line.size() < 4096 || !line.starts_with(kStart)) return false;
  const std::size_t id_end = line.find(",\"result\":{\"tools\"");
  if (id_end == std::string_view::npos) return false;
  const std::string id(line.substr(kStart.size(), id_end - kStart.size()));
  const auto found = named_.find(id);
  Require(found != named_.end(), "an answer that nobody waits for");
  const Entry entry = found->second.front();
  Require(entry.debt.what == Owed::kTools, "an answer to another question");
  std::string& known = lists_[std::string(kVersions[entry.debt.revision])];
  const std::string_view rest = line.substr(id_end);
  if (known.empty()) {
    known = rest;
    return false;
  }
  Require(rest == known, "another list of tools than before");
  named_.erase(found);
  Paid(entry);
  return true;
}

void Ledger::SettleOne(const Json& answer) {
  if (answer.is_array()) return SettleArray(answer);
  if (answer.contains("method")) return SettleNotification(answer);
  if (!answer.contains("id")) return SettleAnonymous(answer);
  SettleNamed(answer["id"].dump(), answer, 0);
}

void Ledger::SettleNotification(const Json& message) {
  const Json& params = message.at("params");
  if (message["method"] == "notifications/progress") {
    return Require(named_.contains(params.at("progressToken").dump()), "progress for nobody");
  }
  if (message["method"] == "notifications/message") {
    return Require(params.at("level").is_string(), "a message without a level");
  }
  Require(message["method"] == "notifications/subscriptions/acknowledged", "a strange method");
  const std::string id = params.at("_meta").at("io.modelcontextprotocol/subscriptionId").dump();
  const auto found = named_.find(id);
  Require(found != named_.end() && found->second.front().debt.what == Owed::kAcknowledged,
          "an acknowledgement for nobody");
  const Entry entry = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) named_.erase(found);
  Paid(entry);
}

void Ledger::SettleNamed(const std::string& id, const Json& answer, std::uint64_t batch) {
  const auto found = named_.find(id);
  Require(found != named_.end(), "an answer that nobody waits for");
  std::deque<Entry>& waiting = found->second;
  // What runs elsewhere may be overtaken by the refusal of its id to somebody else.
  auto entry = waiting.begin();
  while (std::next(entry) != waiting.end() && entry->debt.is_call && answer.contains("error") &&
         !entry->debt.twin) {
    ++entry;
  }
  Require(entry->batch == batch, "not in the array of its batch, or in one without being of one");
  CheckAnswer(entry->debt, answer);
  const bool refused = answer.contains("error");
  const Entry paid = *entry;
  waiting.erase(entry);
  // One of two may be refused, not both.
  if (refused && paid.debt.twin && !waiting.empty()) waiting.front().debt.twin = false;
  if (waiting.empty()) named_.erase(found);
  Paid(paid);
}

void Ledger::SettleAnonymous(const Json& answer) {
  Require(!anonymous_.empty(), "an answer without id that nobody waits for");
  const Entry entry = anonymous_.front();
  try {
    CheckAnswer(entry.debt, answer);
  } catch (const std::exception& error) {
    throw std::runtime_error("message " + std::to_string(entry.message) + ": " + error.what());
  }
  anonymous_.pop_front();
  Paid(entry);
}

void Ledger::SettleArray(const Json& answers) {
  std::uint64_t number = 0;
  for (const Json& answer : answers) {
    if (!answer.contains("id")) continue;
    const auto found = named_.find(answer["id"].dump());
    Require(found != named_.end(), "an answer that nobody waits for");
    number = found->second.front().batch;
    break;
  }
  if (number == 0) {
    Require(!nameless_batches_.empty(), "an array that nobody waits for");
    number = nameless_batches_.front();
    nameless_batches_.pop_front();
  }
  Require(batches_.contains(number), "an array for no batch");
  const Batch batch = batches_[number];
  Require(answers.size() == batch.left, "an array of " + std::to_string(answers.size()) +
                                            " for a batch of " + std::to_string(batch.left) +
                                            " (message " + std::to_string(batch.message) + ")");
  std::size_t nameless = 0;
  for (const Json& answer : answers) {
    if (answer.contains("id")) {
      SettleNamed(answer["id"].dump(), answer, number);
      continue;
    }
    Require(nameless < batch.anonymous.size(), "one answer without id too many");
    const Debt& debt = batch.anonymous[nameless++];
    CheckAnswer(debt, answer);
    Paid({debt, number, number});
  }
  batches_.erase(number);
}

void Ledger::Paid(const Entry& entry) {
  if (entry.debt.cancelled) return;
  --debts_;
  if (entry.debt.is_call) --calls_;
}

bool Ledger::WaitFor(std::size_t debts_max, std::size_t calls_max) {
  std::unique_lock lock(mutex_);
  while (!closed_ && (debts_ > debts_max || calls_ > calls_max)) {
    const std::uint64_t before = answers_;
    if (paid_.wait_for(lock, patience_) == std::cv_status::timeout && answers_ == before) {
      return false;
    }
  }
  return !closed_;
}

void Ledger::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  paid_.notify_one();
}

std::string Ledger::Missing() {
  const std::lock_guard lock(mutex_);
  std::string missing;
  const auto add = [&](const Entry& entry, const std::string& id) {
    if (entry.debt.cancelled || missing.size() > 1000) return;
    missing += " message " + std::to_string(entry.message) + " (id " + id + ")";
  };
  for (const auto& [id, entries] : named_) {
    for (const Entry& entry : entries)
      add(entry, id);
  }
  for (const Entry& entry : anonymous_)
    add(entry, "none");
  for (const std::uint64_t batch : nameless_batches_)
    missing += " batch " + std::to_string(batch);
  return missing;
}

}  // namespace jarvis::load
