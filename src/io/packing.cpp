#include "io/packing.h"

#include <algorithm>
#include <iterator>

namespace jarvis::io {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::size_t at;
  std::string_view bytes;
  Packing packing;
};

constexpr Magic kMagics[] = {
    {0, "\x1F\x8B", Packing::kGzip},      {0, "\x28\xB5\x2F\xFD", Packing::kZstd},
    {0, "\xFD\x37zXZ\0"sv, Packing::kXz}, {0, "\x04\x22\x4D\x18", Packing::kLz4},
    {0, "PK\3\4", Packing::kZip},         {257, "ustar", Packing::kTar},
    {0, "\xFF\xFE", Packing::kUtf16},     {0, "\xFE\xFF", Packing::kUtf16},
};

// "BZh", a level and the first block's mark, or that of a stream without blocks.
bool IsBzip2(std::string_view head) {
  if (!head.starts_with("BZh") || head.size() < 10 || head[3] < '1' || head[3] > '9') return false;
  const std::string_view mark = head.substr(4, 6);
  return mark == "\x31\x41\x59\x26\x53\x59" || mark == "\x17\x72\x45\x38\x50\x90";
}

}  // namespace

Packing TellPacking(std::string_view head) {
  const auto found = std::find_if(std::begin(kMagics), std::end(kMagics), [&](const Magic& one) {
    return head.size() >= one.at && head.substr(one.at).starts_with(one.bytes);
  });
  if (found != std::end(kMagics)) return found->packing;
  return IsBzip2(head) ? Packing::kBzip2 : Packing::kNone;
}

std::string_view NameOf(Packing packing) {
  switch (packing) {
    case Packing::kNone: return "a plain file";
    case Packing::kGzip: return "a file packed with gzip";
    case Packing::kZstd: return "a file packed with zstd";
    case Packing::kXz: return "a file packed with xz";
    case Packing::kBzip2: return "a file packed with bzip2";
    case Packing::kLz4: return "a file packed with lz4";
    case Packing::kZip: return "a zip archive";
    case Packing::kTar: return "a tar archive";
    case Packing::kUtf16: return "text in UTF-16";
  }
  return "";
}

}  // namespace jarvis::io
