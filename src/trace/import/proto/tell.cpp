#include "trace/import/proto/tell.h"

#include <algorithm>

#include "trace/import/proto/wire.h"

namespace jarvis::proto {
namespace {

// Fields of a TracePacket of which one at least is in nearly every packet: times, events, interned
// data, descriptors, clocks.
constexpr std::uint32_t kPacketFields[] = {6,  8,  10, 11, 12, 33, 36, 43,
                                           44, 50, 58, 59, 60, 87, 89};

bool IsConverted(std::string_view head) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::size_t count = 0;
  for (std::size_t at = 0; (at = head.find(kReplacement, at)) != std::string_view::npos; at += 3)
    ++count;
  return count * 1000 > head.size();
}

// Letters in UTF-8, and no control characters: a name.
bool IsName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return static_cast<unsigned char>(c) >= ' ' && c != '\x7F';
  });
}

FileKind TellMessage(std::string_view message) {
  constexpr int kLookedAt = 40;
  constexpr std::uint32_t kPlaneFieldMax = 6;
  Cursor cursor(message);
  Field field;
  bool plane = true, packet = false, name = false, program_name = false, computations = false;
  bool first_of_two = true;
  for (int i = 0; i < kLookedAt && cursor.Next(&field); ++i) {
    if (field.number > kPlaneFieldMax) plane = false;
    if (field.number == 1) {
      plane = plane && field.wire == Wire::kVarint;
      program_name = program_name || (field.wire == Wire::kBytes && IsName(field.bytes));
    }
    if (field.number == 2 && first_of_two) {
      name = field.wire == Wire::kBytes && IsName(field.bytes);
      first_of_two = false;
    }
    computations = computations || field.IsBytes(3);
    packet = packet || std::ranges::find(kPacketFields, field.number) != std::end(kPacketFields);
  }
  if (plane && name) return FileKind::kXspace;
  if (program_name && computations) return FileKind::kHlo;
  return packet ? FileKind::kPerfetto : FileKind::kOther;
}

}  // namespace

FileKind TellFile(std::string_view head) {
  constexpr std::size_t kMessages = 4;
  constexpr char kFieldOne = '\x0A';
  if (head.starts_with(kFieldOne) && IsConverted(head)) return FileKind::kConverted;
  std::size_t planes = 0, packets = 0, programs = 0;
  for (const std::string_view message : FirstMessages(head, kMessages)) {
    const FileKind kind = TellMessage(message);
    planes += kind == FileKind::kXspace ? 1 : 0;
    packets += kind == FileKind::kPerfetto ? 1 : 0;
    programs += kind == FileKind::kHlo ? 1 : 0;
  }
  if (planes > 0 && planes >= packets) return FileKind::kXspace;
  // Later versions may put something before the first plane; nobody puts anything before packets,
  // while many formats begin with a length.
  if (!head.starts_with(kFieldOne)) return FileKind::kOther;
  if (packets > 0) return FileKind::kPerfetto;
  return programs > 0 ? FileKind::kHlo : FileKind::kOther;
}

}  // namespace jarvis::proto
