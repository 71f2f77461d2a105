#include "output/html_policy.h"

#include <array>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace jarvis::output {
namespace {

std::string Sha256Base64(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::array<unsigned char, EVP_MAX_MD_SIZE * 2> base64{};
  const int length = EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(size));
  return std::string(base64.begin(), base64.begin() + length);
}

}  // namespace

std::string PagePolicy(std::string_view style, std::string_view script) {
  return fmt::format(
      "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; "
      "base-uri 'none'; form-action 'none'",
      Sha256Base64(style), Sha256Base64(script));
}

}  // namespace jarvis::output
