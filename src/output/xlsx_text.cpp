#include "output/xlsx_text.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "output/xlsx_writer.h"

namespace jarvis::output {
namespace {

constexpr std::string_view kCutMark = " [cut]";

// How many UTF-16 units, and bytes, the character at the start of valid UTF-8 has.
struct Character {
  std::size_t bytes;
  std::size_t units;
};
Character FirstCharacter(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return {std::min(bytes, text.size()), bytes == 4 ? std::size_t{2} : std::size_t{1}};
}

// Excel reads "_x0041_" in a file as "A".
bool LooksEscaped(std::string_view text) {
  return text.size() >= 7 && text[0] == '_' && text[1] == 'x' && text[6] == '_' &&
         std::all_of(text.begin() + 2, text.begin() + 6, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
         });
}

bool IsIllegalInXml(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return lead < 0x20 && lead != '\t' && lead != '\n';
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";  // U+FFFE, U+FFFF
}

enum class CellByte : unsigned char { kPlain, kMark, kUnderscore, kOther };

constexpr std::array<CellByte, 256> MakeCellBytes() {
  std::array<CellByte, 256> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool plain = (i >= 0x20 && i < 0x7F) || i == '\t' || i == '\n';
    bytes[i] = plain ? CellByte::kPlain : CellByte::kOther;
  }
  for (const char c : {'&', '<', '>'})
    bytes[static_cast<unsigned char>(c)] = CellByte::kMark;
  bytes['_'] = CellByte::kUnderscore;
  return bytes;
}
constexpr std::array<CellByte, 256> kCellBytes = MakeCellBytes();

void AppendMark(char mark, std::string* xml) {
  *xml += mark == '&' ? "&amp;" : mark == '<' ? "&lt;" : "&gt;";
}

}  // namespace

std::size_t Units(std::string_view text) {
  std::size_t units = 0;
  while (!text.empty()) {
    const Character character = FirstCharacter(text);
    units += character.units;
    text.remove_prefix(character.bytes);
  }
  return units;
}

std::string FirstUnits(std::string_view text, std::size_t units_max) {
  std::size_t at = 0;
  std::size_t units = 0;
  while (at < text.size()) {
    const Character character = FirstCharacter(text.substr(at));
    if (units + character.units > units_max) break;
    units += character.units;
    at += character.bytes;
  }
  return std::string(text.substr(0, at));
}

SafeText MakeSafe(std::string_view raw) {
  SafeText safe;
  const std::string valid = ValidUtf8(raw, &safe.mended);
  std::string_view rest = valid;
  std::size_t units = 0;
  std::size_t marked = 0;  // bytes of safe.text that leave room for the mark
  while (!rest.empty()) {
    const Character character = FirstCharacter(rest);
    std::string_view piece = rest.substr(0, character.bytes);
    std::size_t piece_units = character.units;
    if (piece == "\r") {  // XML turns it into a line end anyway
      const bool pair = rest.size() > 1 && rest[1] == '\n';
      piece = pair ? "" : "\n";
      piece_units = piece.size();
    } else if (IsIllegalInXml(piece)) {
      piece = "\xEF\xBF\xBD";
      safe.mended = true;
    } else if (LooksEscaped(rest)) {
      piece = "_x005F_";
      piece_units = piece.size();
    }
    if (units + piece_units > kXlsxTextMax) {
      safe.text.resize(marked);
      safe.text += kCutMark;
      safe.cut = true;
      return safe;
    }
    safe.text += piece;
    units += piece_units;
    if (units + kCutMark.size() <= kXlsxTextMax) marked = safe.text.size();
    rest.remove_prefix(character.bytes);
  }
  return safe;
}

bool AppendPlain(std::string_view raw, std::string* xml) {
  if (raw.size() > kXlsxTextMax) return false;
  const std::size_t before = xml->size();
  std::size_t kept = 0;
  for (std::size_t at = 0; at < raw.size(); ++at) {
    const CellByte kind = kCellBytes[static_cast<unsigned char>(raw[at])];
    if (kind == CellByte::kPlain) continue;
    const bool escape = kind == CellByte::kUnderscore && at + 1 < raw.size() && raw[at + 1] == 'x';
    if (kind == CellByte::kOther || escape) {
      xml->resize(before);
      return false;
    }
    if (kind == CellByte::kUnderscore) continue;
    xml->append(raw.substr(kept, at - kept));
    AppendMark(raw[at], xml);
    kept = at + 1;
  }
  xml->append(raw.substr(kept));
  return true;
}

void AppendEscaped(std::string_view text, std::string* xml) {
  std::size_t kept = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (kCellBytes[static_cast<unsigned char>(text[at])] != CellByte::kMark) continue;
    xml->append(text.substr(kept, at - kept));
    AppendMark(text[at], xml);
    kept = at + 1;
  }
  xml->append(text.substr(kept));
}

}  // namespace jarvis::output
