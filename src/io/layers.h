// What has to be undone to get at the bytes of a file, outermost first.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"
#include "io/packing.h"

namespace jarvis::io {

struct Layer {
  Packing packing = Packing::kNone;
  std::string member = {};  // of an archive: which of its files
};
using Layers = std::vector<Layer>;

// The source behind all layers. Errors: those of OpenBytes.
Result<std::unique_ptr<ByteSource>> Unpack(InputFile input, const Layers& layers, const Job* job);
// The same of the beginning of a file, as far as it goes.
std::string UnpackedHead(std::string raw, std::size_t bytes_max);
// The first bytes of a source; fewer only at its end.
Result<std::string> HeadOf(ByteSource& source, std::size_t bytes_max);

// A file looked at from outside.
struct FileLook {
  Layers layers;     // down to the first archive, which is the last of them then, or to the text
  std::string head;  // how what is behind them begins, or the archive; shorter than asked for where
                     // that would take reading much
  bool archive() const { return !layers.empty() && HoldsFiles(layers.back().packing); }
};
// Errors: those of OpenBytes.
Result<FileLook> LookAt(const InputFile& input, std::size_t head_bytes);
// As io::OpenBytes, with the layers that LookAt found in the same file.
Result<std::unique_ptr<ByteSource>> OpenBytes(InputFile input, const Layers& outer,
                                              const BytesOptions& options);
// The source behind these layers, of which the last is an archive with its member, and behind those
// that the member is packed in. An archive in an archive is not gone into.
Result<std::unique_ptr<ByteSource>> UnpackMember(InputFile input, Layers layers, const Job* job);

}  // namespace jarvis::io
