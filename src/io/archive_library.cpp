#include "io/archive_library.h"

#include <type_traits>

#include <dlfcn.h>

namespace jarvis::io {
namespace {

struct Loaded {
  ArchiveLibrary library;
  bool whole = false;
};

Loaded LoadArchiveLibrary() {
  Loaded loaded;
  void* const file = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) return loaded;
  loaded.whole = true;
  const auto find = [&](auto& function, const char* name) {
    void* const symbol = dlsym(file, name);
    loaded.whole = loaded.whole && symbol != nullptr;
    function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
  };
  ArchiveLibrary& to = loaded.library;
  find(to.read_new, "archive_read_new");
  find(to.read_free, "archive_read_free");
  find(to.format_zip, "archive_read_support_format_zip");
  find(to.format_tar, "archive_read_support_format_tar");
  find(to.format_raw, "archive_read_support_format_raw");
  find(to.filter_zstd, "archive_read_support_filter_zstd");
  find(to.filter_xz, "archive_read_support_filter_xz");
  find(to.filter_bzip2, "archive_read_support_filter_bzip2");
  find(to.filter_lz4, "archive_read_support_filter_lz4");
  find(to.set_read, "archive_read_set_read_callback");
  find(to.set_seek, "archive_read_set_seek_callback");
  find(to.set_data, "archive_read_set_callback_data");
  find(to.open, "archive_read_open1");
  find(to.next_header, "archive_read_next_header");
  find(to.data_block, "archive_read_data_block");
  find(to.set_error, "archive_set_error");
  find(to.error_number, "archive_errno");
  find(to.error_string, "archive_error_string");
  find(to.pathname, "archive_entry_pathname");
  find(to.filetype, "archive_entry_filetype");
  find(to.hardlink, "archive_entry_hardlink");
  find(to.is_encrypted, "archive_entry_is_encrypted");
  return loaded;
}

}  // namespace

const ArchiveLibrary* TheArchiveLibrary() {
  static const Loaded loaded = LoadArchiveLibrary();
  return loaded.whole ? &loaded.library : nullptr;
}

}  // namespace jarvis::io
