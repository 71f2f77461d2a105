// Makes the events of one rank fit among those of others: pids, flow ids and the ids that link
// events become unique, all else stays as it is written.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace jarvis::trace {

class RankRewriter {
 public:
  struct Options {
    std::int64_t rank = 0;
    std::uint64_t ordinal = 0;     // of the rank among those that are merged
    std::int64_t first_pid = 1;    // pids count up from here
    std::int64_t shift_ns = 0;     // added to every time
    bool python_functions = true;  // false: Python frames are left out
    bool as_is = false;            // events stay as they are written; the above means nothing
  };
  explicit RankRewriter(const Options& options);
  ~RankRewriter();
  RankRewriter(const RankRewriter&) = delete;
  RankRewriter& operator=(const RankRewriter&) = delete;

  // Appends the elements of a slice, each with a comma and a line end in front. What is no JSON
  // object is left out and counted.
  void Add(std::string_view elements, std::string* out);
  // Names for the processes seen: "rank 3: python (pid 1234, CPU)".
  void AddNames(std::string* out) const;

  std::int64_t next_pid() const { return next_pid_; }
  std::uint64_t events() const { return events_; }    // written
  std::uint64_t dropped() const { return dropped_; }  // broken ones

 private:
  struct Process {
    std::int64_t pid = 0;
    std::string name;   // raw JSON string
    std::string label;  // raw JSON string
  };
  class Json;

  void AddEvent(std::string_view event, std::string* out);
  void AddArgs(std::string_view args, std::string* out);
  Process& ProcessOf(std::string_view raw_pid);
  std::string Linked(std::string_view raw_id);
  std::string Shifted(std::string_view raw_time) const;
  void NoteName(std::string_view event);

  const Options options_;
  std::unique_ptr<Json> json_;
  std::map<std::string, Process, std::less<>> processes_;  // by raw pid
  std::vector<std::string> order_;                         // raw pids as they came
  std::map<std::string, std::uint64_t, std::less<>> odd_ids_;
  std::int64_t next_pid_;
  std::uint64_t events_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace jarvis::trace
