// What a server owes and what it has paid: every answer must be one that is owed, and right.
//
// Threads: Owe() and WaitFor() from the one that sends, Settle() from the one that reads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "json/json.h"
#include "load/stdio_million_messages.h"

namespace jarvis::load {

class Ledger {
 public:
  explicit Ledger(std::chrono::seconds patience) : patience_(patience) {}

  // Before the message is sent.
  void Owe(const Outgoing& message, std::uint64_t number);
  // One line of output. Throws std::runtime_error that says what is wrong with it.
  void Settle(std::string_view line);

  // Waits until no more than this is owed, of all and of tool calls. False: nothing has come for
  // as long as the patience lasts, or nothing can come any more.
  bool WaitFor(std::size_t debts_max, std::size_t calls_max);
  // The end of the output: nothing comes any more.
  void Close();

  // What is still owed, without that which may be left out; empty: nothing.
  std::string Missing();
  std::uint64_t answers() const { return answers_; }  // once all is over

 private:
  struct Entry {
    Debt debt;
    std::uint64_t message = 0;
    std::uint64_t batch = 0;  // 0: of none
  };
  struct Batch {
    std::size_t left = 0;
    std::vector<Debt> anonymous;
    std::uint64_t message = 0;
  };

  void SettleOne(const Json& answer);
  void SettleNamed(const std::string& id, const Json& answer, std::uint64_t batch);
  void SettleAnonymous(const Json& answer);
  void SettleArray(const Json& answers);
  void SettleNotification(const Json& message);
  bool SettleRepeated(std::string_view line);
  void Paid(const Entry& entry);

  const std::chrono::seconds patience_;
  std::mutex mutex_;
  std::condition_variable paid_;
  std::unordered_map<std::string, std::deque<Entry>> named_;
  std::deque<Entry> anonymous_;                 // answered in the order of the messages
  std::map<std::uint64_t, Batch> batches_;      // by the number of the message
  std::deque<std::uint64_t> nameless_batches_;  // without a single id
  std::map<std::string, std::string> lists_;    // the tools, as each revision was told once
  std::size_t debts_ = 0;                       // that must be paid
  std::size_t calls_ = 0;
  std::uint64_t answers_ = 0;
  bool closed_ = false;
};

}  // namespace jarvis::load
