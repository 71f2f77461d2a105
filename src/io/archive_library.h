// libarchive, loaded when the first packed file is read: linked, it and what it brings along would
// take 7 ms of every start of the program.
#pragma once

#include <archive.h>
#include <archive_entry.h>

namespace jarvis::io {

// What we call of it. Never unloaded.
struct ArchiveLibrary {
  decltype(&archive_read_new) read_new = nullptr;
  decltype(&archive_read_free) read_free = nullptr;
  decltype(&archive_read_support_format_zip) format_zip = nullptr;
  decltype(&archive_read_support_format_tar) format_tar = nullptr;
  decltype(&archive_read_support_format_raw) format_raw = nullptr;
  decltype(&archive_read_support_filter_zstd) filter_zstd = nullptr;
  decltype(&archive_read_support_filter_xz) filter_xz = nullptr;
  decltype(&archive_read_support_filter_bzip2) filter_bzip2 = nullptr;
  decltype(&archive_read_support_filter_lz4) filter_lz4 = nullptr;
  decltype(&archive_read_set_read_callback) set_read = nullptr;
  decltype(&archive_read_set_seek_callback) set_seek = nullptr;
  decltype(&archive_read_set_callback_data) set_data = nullptr;
  decltype(&archive_read_open1) open = nullptr;
  decltype(&archive_read_next_header) next_header = nullptr;
  decltype(&archive_read_data_block) data_block = nullptr;
  decltype(&archive_set_error) set_error = nullptr;
  decltype(&archive_errno) error_number = nullptr;
  decltype(&archive_error_string) error_string = nullptr;
  decltype(&archive_entry_pathname) pathname = nullptr;
  decltype(&archive_entry_filetype) filetype = nullptr;
  decltype(&archive_entry_hardlink) hardlink = nullptr;
  decltype(&archive_entry_is_encrypted) is_encrypted = nullptr;
};

// Null: it is not on this machine. From any thread.
const ArchiveLibrary* TheArchiveLibrary();

}  // namespace jarvis::io
