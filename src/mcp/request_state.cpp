#include "mcp/request_state.h"

#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "rpc/base64.h"

namespace jarvis::mcp {
namespace {

std::int64_t Seconds(RequestStates::Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::string Digest(const std::string& text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), bytes.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("SHA-256 is not to be had");
  }
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

}  // namespace

RequestStates::RequestStates() : key_(rpc::RandomHex(32)) {
  if (key_.empty()) throw std::runtime_error("no random numbers are to be had");
}

std::string RequestStates::Sign(const std::string& text) const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  if (HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), bytes.data(),
           &size) == nullptr) {
    throw std::runtime_error("HMAC-SHA-256 is not to be had");
  }
  return {reinterpret_cast<const char*>(bytes.data()), size};
}

std::string RequestStates::Seal(const Json& state, const std::string& binding,
                                Clock::time_point now) const {
  const Json held = {{"until", Seconds(now + kLife)},
                     {"binding", rpc::EncodeBase64Url(Digest(binding))},
                     {"state", state}};
  const std::string text = rpc::EncodeBase64Url(DumpLine(held));
  return text + "." + rpc::EncodeBase64Url(Sign(text));
}

std::optional<Json> RequestStates::Open(const std::string& sealed, const std::string& binding,
                                        Clock::time_point now) const {
  const std::size_t dot = sealed.find('.');
  if (dot == std::string::npos) return std::nullopt;
  const std::string text = sealed.substr(0, dot);
  const auto signature = rpc::DecodeBase64Url(sealed.substr(dot + 1));
  const std::string wanted = Sign(text);
  if (!signature || signature->size() != wanted.size() ||
      CRYPTO_memcmp(signature->data(), wanted.data(), wanted.size()) != 0) {
    return std::nullopt;
  }
  // Signed, so it is our own text.
  const auto plain = rpc::DecodeBase64Url(text);
  const auto held = plain ? ParseJson(*plain) : Result<Json>(Json());
  if (!held || !held->is_object()) return std::nullopt;
  if (held->value("until", std::int64_t{0}) < Seconds(now)) return std::nullopt;
  if (held->value("binding", "") != rpc::EncodeBase64Url(Digest(binding))) return std::nullopt;
  return held->value("state", Json());
}

}  // namespace jarvis::mcp
