#include "io/plain_source.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

namespace jarvis::io {
namespace {

constexpr std::size_t kHashedPiece = std::size_t{256} << 10;

XXH3_state_t* NewHash() {
  XXH3_state_t* hash = XXH3_createState();
  if (hash == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(hash);
  return hash;
}

Result<std::size_t> ReadAt(int fd, std::uint64_t place, char* to, std::size_t bytes) {
  for (;;) {
    const ssize_t got = ::pread(fd, to, bytes, static_cast<off_t>(place));
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR)
      return Fail(ErrorCode::kIo, fmt::format("reading failed: {}", std::strerror(errno)));
  }
}

// Adds the bytes of the file from `place` to its end, as far as they can be read.
void HashRest(int fd, std::uint64_t place, XXH3_state_t* hash) {
  std::vector<char> piece(kHashedPiece);
  for (;;) {
    const std::size_t got = ReadAt(fd, place, piece.data(), piece.size()).value_or(0);
    if (got == 0) return;
    XXH3_64bits_update(hash, piece.data(), got);
    place += got;
  }
}

// Files of one archive are told apart by their names.
std::uint64_t WithMember(std::uint64_t hash, const std::string& member) {
  return member.empty() ? hash : XXH3_64bits_withSeed(member.data(), member.size(), hash);
}

class PlainPoint : public RestartPoint {
 public:
  explicit PlainPoint(std::uint64_t place) : place_(place) {}
  Result<std::unique_ptr<ByteSource>> Open(InputFile input) const override {
    return std::make_unique<PlainSource>(std::move(input), place_);
  }
  std::size_t MemoryBytes() const override { return sizeof(*this); }

 private:
  std::uint64_t place_;
};

}  // namespace

PlainSource::PlainSource(InputFile input, std::uint64_t place)
    : input_(std::move(input)),
      place_(place),
      read_(place),
      in_order_(place == 0),
      hash_(NewHash()) {}

PlainSource::~PlainSource() {
  XXH3_freeState(hash_);
}

Result<std::size_t> PlainSource::Read(std::span<char> buffer) {
  JV_ASSIGN(const std::size_t got, ReadAt(input_.fd.get(), place_, buffer.data(), buffer.size()));
  if (in_order_) XXH3_64bits_update(hash_, buffer.data(), got);
  place_ += got;
  read_ += got;
  return got;
}

std::uint64_t PlainSource::content_hash() {
  if (!in_order_) return HashOf(input_);
  // The rest of a file that was not read to its end is part of the identity all the same.
  HashRest(input_.fd.get(), place_, hash_);
  in_order_ = false;
  return WithMember(XXH3_64bits_digest(hash_), input_.member);
}

std::unique_ptr<const RestartPoint> PlainSource::Mark() const {
  return std::make_unique<PlainPoint>(place_);
}

void PlainSource::Seek(std::uint64_t place) {
  in_order_ = in_order_ && place == place_;
  place_ = place;
}

std::uint64_t HashOf(const InputFile& input) {
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash(NewHash(), &XXH3_freeState);
  HashRest(input.fd.get(), 0, hash.get());
  return WithMember(XXH3_64bits_digest(hash.get()), input.member);
}

}  // namespace jarvis::io
