// Digests of ranks as files: versioned JSON, described in docs/digest.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranks/rank_digest.h"
#include "base/result.h"

namespace jarvis::formats {

// The same digest gives the same bytes.
std::string DigestText(const analysis::RankDigest& digest);

// Whether a file that begins like this is a digest.
bool IsDigest(std::string_view begin);

// kBadValue says what is wrong and where: nothing of a file is believed unchecked.
Result<std::vector<analysis::RankDigest>> ReadDigest(std::string_view text);

}  // namespace jarvis::formats
