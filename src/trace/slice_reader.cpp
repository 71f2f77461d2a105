#include "trace/slice_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "io/file_kind.h"
#include "trace/event_decoder.h"

namespace jarvis::trace {
namespace {

constexpr std::size_t kHeadBytes = 64 * 1024;  // of JSON, tells what kind of file it is
// What is no JSON is looked at further: a database names its tables behind its first pages.
constexpr std::size_t kHeadBytesMax = 1024 * 1024;

void MakeRoom(SliceText* piece, std::size_t filled) {
  const std::size_t needed = 1 + filled + limits::kSliceBytes + EventDecoder::kPaddingBytes;
  if (piece->buffer.size() < needed) piece->buffer.resize(needed);
}

void Take(const JsonSlicer::Slice& slice, SliceText* piece) {
  char* text = piece->buffer.data() + 1;
  if (slice.text.data() != text) std::memmove(text, slice.text.data(), slice.text.size());
  piece->text_size = slice.text.size();
  piece->first_uid = slice.first_element;
  piece->elements = slice.elements;
}

}  // namespace

std::size_t SlicePoints::BytesOf(const SlicePoint& point) {
  return sizeof(point) + point.bytes->MemoryBytes() + point.carry.capacity();
}

void SlicePoints::Add(SlicePoint point) {
  bytes_ += BytesOf(point);
  points_.push_back(std::move(point));
  while (bytes_ > limits::kRestartBytesMax && points_.size() > 2)
    Thin();
}

// Every other one, from the first on.
void SlicePoints::Thin() {
  std::size_t kept = 0;
  bytes_ = 0;
  for (std::size_t i = 0; i < points_.size(); i += 2) {
    bytes_ += BytesOf(points_[i]);
    if (kept != i) points_[kept] = std::move(points_[i]);
    ++kept;
  }
  points_.resize(kept);
  spacing_ *= 2;
}

SliceReader::SliceReader(io::ByteSource& bytes, std::uint64_t bytes_max, Job& job,
                         const SlicePoint& from, std::uint64_t elements_end)
    : bytes_(bytes),
      bytes_max_(bytes_max),
      job_(job),
      carry_(from.carry),
      total_(from.text),
      elements_end_(elements_end) {
  if (from.inside_events) slicer_.ResumeInEvents(from.element, from.bare_array);
}

// Between two slices. What begins before a place and ends behind it is kept with the point; where
// that is much, the next slice's end will do.
void SliceReader::NotePoint() {
  if (points_ == nullptr || !points_->Due(total_)) return;
  const bool beginning = !slicer_.started() && carry_.empty();
  if (!beginning && (!slicer_.inside_events() || carry_.size() > limits::kSliceBytes)) return;
  std::unique_ptr<const io::RestartPoint> here = bytes_.Mark();
  if (here == nullptr) return;
  points_->Add({std::move(here), carry_, slicer_.elements(), total_, slicer_.inside_events(),
                slicer_.bare_array()});
}

Result<bool> SliceReader::Next(SliceText* piece) {
  if (slicer_.elements() >= elements_end_) return false;
  NotePoint();
  std::size_t filled = carry_.size();
  MakeRoom(piece, filled);
  std::copy(carry_.begin(), carry_.end(), piece->buffer.begin() + 1);
  for (;;) {
    char* text = piece->buffer.data() + 1;
    if (const Status fed = slicer_.Feed({text, filled}); !fed) {
      return tl::make_unexpected(fed.error().code == ErrorCode::kNotATrace
                                     ? NotATrace(fed.error().message, fed.error().hint)
                                     : fed.error());
    }
    const std::size_t consumed = slicer_.consumed();
    if (slicer_.slice().elements > 0) {
      carry_.assign(text + consumed, text + filled);
      Take(slicer_.slice(), piece);
      return true;
    }
    std::memmove(text, text + consumed, filled - consumed);
    filled -= consumed;
    // The end of an array hands back control before the rest of the text was looked at.
    if (consumed > 0 && filled > 0 && !slicer_.inside_events()) continue;
    if (filled > limits::kEventBytesMax) {
      oversize_ = true;
      return false;
    }
    MakeRoom(piece, filled);
    text = piece->buffer.data() + 1;
    JV_TRY(job_.Check());
    JV_ASSIGN(const std::size_t got, bytes_.Read({text + filled, limits::kSliceBytes}));
    if (got == 0) return false;
    // All of the first piece: where it turns out to be no JSON, that is looked at and what follows.
    if (total_ == 0 || head_.size() < kHeadBytes)
      head_.append(text + filled, total_ == 0 ? got : std::min(got, kHeadBytes - head_.size()));
    filled += got;
    total_ += got;
    JV_TRY(CheckSize());
  }
}

Error SliceReader::NotATrace(std::string message, std::string hint) {
  if (total_ == 0 && !bytes_.damage().empty())
    return {ErrorCode::kNotATrace, fmt::format("nothing of it can be read: {}", bytes_.damage()),
            std::move(hint)};
  while (!slicer_.started() && total_ <= head_.size() && head_.size() < kHeadBytesMax) {
    const std::size_t begun = head_.size();
    head_.resize(kHeadBytesMax);
    const auto got = bytes_.Read({head_.data() + begun, kHeadBytesMax - begun});
    total_ += got.value_or(0);
    head_.resize(begun + got.value_or(0));
    if (head_.size() == begun) break;
  }
  const std::string_view head(head_);
  if (const auto kind = io::TellFileKind(slicer_.started() ? head.substr(0, kHeadBytes) : head))
    return {ErrorCode::kNotATrace, fmt::format("this is {}", kind->what), std::string(kind->next)};
  return {ErrorCode::kNotATrace, std::move(message), std::move(hint)};
}

Status SliceReader::CheckSize() const {
  if (total_ > bytes_max_) {
    return Fail(ErrorCode::kTooLarge,
                fmt::format("more than {} bytes of text in one trace", bytes_max_),
                "a server reads more with --max-trace-bytes BYTES");
  }
  return bytes_.compressed() ? io::CheckExpansion(bytes_.consumed(), total_) : Status();
}

}  // namespace jarvis::trace
