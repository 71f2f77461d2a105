#include "base/regex.h"

#include <array>
#include <cstdint>
#include <new>
#include <utility>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

namespace jarvis {
namespace {

// A name of a kernel takes some hundred; a text of nested repetitions takes more than there are
// atoms. Some milliseconds.
constexpr std::uint32_t kTriesMax = 200'000;
// What is kept to try other ways, in KiB.
constexpr std::uint32_t kHeapMax = 16 << 10;

PCRE2_SPTR BytesOf(std::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data() == nullptr ? "" : text.data());
}

std::string TextOfError(int number) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(number, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

struct FreeMatch {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};

}  // namespace

void Regex::Free::operator()(pcre2_real_code_8* code) const {
  pcre2_code_free(code);
}

Result<Regex> Regex::Make(std::string_view expression) {
  int error = 0;
  PCRE2_SIZE at = 0;
  Regex made;
  made.code_.reset(pcre2_compile(BytesOf(expression), expression.size(), PCRE2_DOLLAR_ENDONLY,
                                 &error, &at, nullptr));
  if (made.code_ == nullptr) {
    if (error == PCRE2_ERROR_HEAP_FAILED) throw std::bad_alloc();
    return Fail(ErrorCode::kBadValue, fmt::format("{} at byte {}", TextOfError(error), at));
  }
  std::uint32_t names = 0;
  pcre2_pattern_info(made.code_.get(), PCRE2_INFO_NAMECOUNT, &names);
  made.named_groups_ = names > 0;
  return made;
}

std::optional<bool> Regex::Search(std::string_view text, RegexGroups* groups) const {
  const std::unique_ptr<pcre2_match_data, FreeMatch> match(
      groups == nullptr ? pcre2_match_data_create(1, nullptr)
                        : pcre2_match_data_create_from_pattern(code_.get(), nullptr));
  const std::unique_ptr<pcre2_match_context, FreeMatch> limits(pcre2_match_context_create(nullptr));
  if (match == nullptr || limits == nullptr) throw std::bad_alloc();
  pcre2_set_match_limit(limits.get(), kTriesMax);
  pcre2_set_heap_limit(limits.get(), kHeapMax);
  const int found =
      pcre2_match(code_.get(), BytesOf(text), text.size(), 0, 0, match.get(), limits.get());
  if (found == PCRE2_ERROR_NOMEMORY) throw std::bad_alloc();
  if (found == PCRE2_ERROR_NOMATCH) return false;
  if (found < 0) return std::nullopt;
  if (groups == nullptr) return true;
  groups->assign(pcre2_get_ovector_count(match.get()), {});
  const PCRE2_SIZE* const ends = pcre2_get_ovector_pointer(match.get());
  for (std::size_t g = 0; g < groups->size(); ++g) {
    if (ends[2 * g] != PCRE2_UNSET)
      (*groups)[g] = text.substr(ends[2 * g], ends[2 * g + 1] - ends[2 * g]);
  }
  return true;
}

std::optional<std::size_t> Regex::GroupOf(const char* name) const {
  const int number =
      pcre2_substring_number_from_name(code_.get(), reinterpret_cast<PCRE2_SPTR>(name));
  if (number <= 0) return std::nullopt;
  return static_cast<std::size_t>(number);
}

}  // namespace jarvis
