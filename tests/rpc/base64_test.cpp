#include "rpc/base64.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "rpc/timer.h"

namespace jarvis::rpc {
namespace {

TEST_CASE("bytes come back from their text, which is the one text they have") {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    CHECK(DecodeBase64(EncodeBase64(bytes)) == bytes);
    CHECK(DecodeBase64Url(EncodeBase64Url(bytes)) == bytes);
    bytes += static_cast<char>(i * 37);
  }
  CHECK(EncodeBase64("\xfb\xff") == "+/8=");
  CHECK(EncodeBase64Url("\xfb\xff") == "-_8");
  for (const char* wrong :
       {"A", "AA", "AAA", "AB==", "AAB=", "A===", "====", "AA=A", "AA A", "-_8="})
    CHECK_FALSE(DecodeBase64(wrong));
  for (const char* wrong : {"A", "AB", "+/8", "AA=="})
    CHECK_FALSE(DecodeBase64Url(wrong));
  CHECK(RandomHex(16).size() == 32);
  CHECK(RandomHex(16) != RandomHex(16));
}

TEST_CASE("a timer does things in the order of their times, and drops the rest at its end") {
  std::string done;
  std::atomic<int> count{0};
  {
    Timer timer;
    const auto at = [&](int ms, char what) {
      CHECK(timer.After(std::chrono::milliseconds(ms), [&, what] {
        done += what;
        ++count;
      }));
    };
    at(3'600'000, 'z');
    at(60, 'c');
    at(30, 'b');
    at(1, 'a');
    for (int i = 0; i < 2000 && count < 3; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(done == "abc");
}

}  // namespace
}  // namespace jarvis::rpc
