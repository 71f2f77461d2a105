#include "rocprof/read/json_mend.h"

#include "rocprof/read/read_results.h"

namespace jarvis::rocprof {

std::string MendJson(std::string_view text, std::size_t depth_max) {
  constexpr std::size_t kDepthMax = 1000;
  std::string open;  // closers of the brackets that are open
  std::string open_at_cut;
  std::size_t cut = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside) {
      if (c == '\\') ++i;
      if (c == '"') inside = false;
      continue;
    }
    if (c == '"') inside = true;
    if (c == '{' || c == '[') {
      if (open.size() == kDepthMax) break;
      open.push_back(c == '{' ? '}' : ']');
    }
    if (c != '}' && c != ']') continue;
    if (open.empty() || open.back() != c) break;
    open.pop_back();
    if (open.size() > depth_max) continue;
    cut = i + 1;
    open_at_cut = open;
  }
  if (cut == 0) return {};
  std::string mended(text.substr(0, cut));
  mended.append(open_at_cut.rbegin(), open_at_cut.rend());
  return mended;
}

}  // namespace jarvis::rocprof
