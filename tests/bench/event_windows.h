// Cuts a trace into windows of whole events that are each a JSON document, so that a parser with
// a size limit can take a trace of any length.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace jarvis::bench {

// Called with a document of size bytes; capacity bytes may be read behind it.
using WindowVisitor = std::function<void(std::string_view document, std::size_t capacity)>;

class EventWindows {
 public:
  EventWindows(std::size_t window_bytes, WindowVisitor visitor);

  void Add(std::string_view bytes);
  // The rest, when all bytes were added.
  void Finish();

 private:
  void Scan();
  void ScanStructural(char c, std::size_t at);
  void Emit(std::string_view suffix);

  std::size_t window_bytes_;
  WindowVisitor visitor_;
  std::string text_;
  std::size_t scanned_ = 0;
  std::size_t cut_ = 0;           // the comma behind the last whole event in text_; 0: none
  std::size_t string_begin_ = 0;  // of the last string at depth 1
  int depth_ = 0;
  int event_list_depth_ = 0;  // inside the list of events; 0: not reached
  bool in_string_ = false;
  bool escaped_ = false;
  bool key_is_events_ = false;
  bool list_ended_ = false;
  bool top_is_list_ = false;
};

}  // namespace jarvis::bench
