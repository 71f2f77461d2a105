#include "trace/slice_reader.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/limits.h"
#include "trace/event_decoder.h"

namespace jarvis::trace {
namespace {

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

Result<bool> SliceReader::Next(SliceText* piece) {
  std::size_t filled = carry_.size();
  MakeRoom(piece, filled);
  std::copy(carry_.begin(), carry_.end(), piece->buffer.begin() + 1);
  for (;;) {
    char* text = piece->buffer.data() + 1;
    JV_TRY(slicer_.Feed({text, filled}));
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
    filled += got;
    total_ += got;
    JV_TRY(CheckSize());
  }
}

Status SliceReader::CheckSize() const {
  if (total_ > bytes_max_) {
    return Fail(ErrorCode::kTooLarge,
                fmt::format("more than {} bytes of text in one trace", bytes_max_),
                "a server reads more with --max-trace-bytes BYTES");
  }
  if (bytes_.compressed() && total_ > limits::kExpansionFreeBytes &&
      total_ / limits::kExpansionMax > bytes_.consumed()) {
    return Fail(ErrorCode::kTooLarge,
                fmt::format("{} compressed bytes became {} bytes, more than {} times as many: no "
                            "trace, or a trap",
                            bytes_.consumed(), total_, limits::kExpansionMax));
  }
  return {};
}

}  // namespace jarvis::trace
