#include "rpc/line_splitter.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace jarvis::rpc {
namespace {

class Recorder : public Receiver {
 public:
  void OnMessage(std::string_view text) override { seen.emplace_back(text); }
  void OnOverlong() override { seen.emplace_back("(overlong)"); }
  std::vector<std::string> seen;
};

// The same stream in pieces of every size gives the same lines.
void Check(const std::string& stream, const std::vector<std::string>& expected) {
  for (std::size_t piece = 1; piece <= stream.size() + 1; ++piece) {
    Recorder recorder;
    LineSplitter lines(recorder, /*bytes_max=*/8);
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      lines.Feed(std::string_view(stream).substr(at, piece));
    }
    lines.Finish();
    CAPTURE(stream);
    CAPTURE(piece);
    CHECK(recorder.seen == expected);
  }
}

TEST_CASE("lines of a stream") {
  Check("", {});
  Check("a\nb\n", {"a", "b"});
  Check("a\r\nb\r\n", {"a", "b"});
  Check("\n\r\n \t\na\n\n", {"a"});
  Check("a\nlast", {"a", "last"});
  Check("12345678\n123456789\nok\n", {"12345678", "(overlong)", "ok"});
  Check("123456789abcdefghijklmnopq", {"(overlong)"});
  Check("123456789abcdefghijklmnopq\nx\n123456789\n", {"(overlong)", "x", "(overlong)"});
}

}  // namespace
}  // namespace jarvis::rpc
