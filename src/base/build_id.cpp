#include "base/build_id.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <elf.h>
#include <link.h>

namespace jarvis {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

std::size_t Padded(std::size_t bytes) {
  return (bytes + 3) / 4 * 4;
}

// The id among the notes of a segment; see elf(5).
std::string IdAmong(const char* notes, std::size_t bytes) {
  std::size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= bytes) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    const std::size_t name = at + sizeof note;
    const std::size_t text = name + Padded(note.n_namesz);
    if (text + note.n_descsz > bytes) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
        std::memcmp(notes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      std::string id;
      for (std::size_t i = 0; i < note.n_descsz; ++i) {
        const auto byte = static_cast<std::uint8_t>(notes[text + i]);
        id += kHexDigits[byte >> 4];
        id += kHexDigits[byte & 15];
      }
      return id;
    }
    at = text + Padded(note.n_descsz);
  }
  return {};
}

// The program itself is the first that is told of; libraries have ids of their own.
int LookAtProgram(dl_phdr_info* info, std::size_t, void* result) {
  auto& id = *static_cast<std::string*>(result);
  for (int i = 0; i < info->dlpi_phnum && id.empty(); ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    id = IdAmong(reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr), segment.p_memsz);
  }
  return 1;
}

}  // namespace

std::string BuildId() {
  std::string id;
  ::dl_iterate_phdr(&LookAtProgram, &id);
  return id;
}

}  // namespace jarvis
