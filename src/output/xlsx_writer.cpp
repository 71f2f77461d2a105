#include "output/xlsx_writer.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xlsxwriter.h>

#include "base/file_descriptor.h"
#include "base/text.h"
#include "io/atomic_file.h"
#include "io/temporary_file.h"

namespace jarvis::output {
namespace {

constexpr std::string_view kCutMark = " [cut]";
constexpr std::size_t kSheetNameMax = 31;
// Column widths, in characters: of the header and the first rows, within these.
constexpr std::size_t kWidthMin = 8;
constexpr std::size_t kWidthMax = 60;
constexpr std::size_t kWidthRows = 100;
// Larger integers lose digits as the doubles that Excel calculates with.
constexpr std::int64_t kExactIntegerMax = std::int64_t{1} << 53;
// Some fixed time: 2000-01-01 UTC.
constexpr std::time_t kCreated = 946'684'800;

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

struct SafeText {
  std::string text;
  bool mended = false;
  bool cut = false;
};

// Printable ASCII that is no longer than a cell and has nothing that Excel would read otherwise.
bool IsPlain(std::string_view text) {
  if (text.size() > kXlsxTextMax || text.find("_x") != std::string_view::npos) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= 0x20 && c < 0x7F) || c == '\t' || c == '\n'; });
}

// What a cell can hold of a text, as it stands in the file.
SafeText MakeSafe(std::string_view raw) {
  SafeText safe;
  if (IsPlain(raw)) {
    safe.text = raw;
    return safe;
  }
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

bool IsPercentColumn(const std::string& column) {
  const std::string lower = LowerAscii(column);
  return lower.find("percent") != std::string::npos || lower.find("(%)") != std::string::npos ||
         lower.starts_with("pct ") || lower.starts_with("pct_") || lower.ends_with("_pct");
}

struct Formats {
  lxw_format* header;
  lxw_format* integer;
  lxw_format* number;
  lxw_format* tiny;
  lxw_format* percent;
};

Formats MakeFormats(lxw_workbook* book) {
  const auto with = [book](const char* pattern) {
    lxw_format* format = workbook_add_format(book);
    format_set_num_format(format, pattern);
    return format;
  };
  Formats formats{workbook_add_format(book), with("0"), with("0.000"), with("0.000E+00"),
                  with("0.00\"%\"")};
  format_set_bold(formats.header);
  return formats;
}

// Digits shown of a number; the cell keeps the whole value.
lxw_format* FormatOf(double value, bool percent, const Formats& formats) {
  constexpr double kThreeDecimals = 1e-3;
  constexpr double kPlain = 1e15;
  if (percent) return formats.percent;
  const double size = std::abs(value);
  return size == 0 || (size >= kThreeDecimals && size < kPlain) ? formats.number : formats.tiny;
}

std::size_t WidthOf(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return Units(std::string_view(*text).substr(0, text->find('\n')));
  }
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{:.3f}", *number).size();
  if (const auto* integer = std::get_if<std::int64_t>(&cell))
    return std::to_string(*integer).size();
  return 0;
}

// One sheet. Rows must be written in order: finished ones leave the memory.
class Sheet {
 public:
  Sheet(lxw_worksheet* sheet, const Formats& formats, XlsxFile* file)
      : sheet_(sheet), formats_(formats), file_(file) {}

  void Write(const Table& table) {
    const std::size_t columns = std::min<std::size_t>(table.columns.size(), kXlsxColumnsMax);
    file_->columns_left_out += table.columns.size() - columns;
    if (columns == 0) return;
    SetWidths(table, columns);
    for (std::size_t c = 0; c < columns; ++c) {
      WriteText(0, c, table.columns[c], formats_.header);
      percent_.push_back(IsPercentColumn(table.columns[c]));
    }
    worksheet_freeze_panes(sheet_, 1, 0);
    const bool all = table.rows.size() < kXlsxRowsMax;
    const std::size_t rows = all ? table.rows.size() : kXlsxRowsMax - 2;
    for (std::size_t r = 0; r < rows; ++r) {
      const std::vector<Cell>& cells = table.rows[r];
      for (std::size_t c = 0; c < std::min(cells.size(), columns); ++c)
        WriteCell(r + 1, c, cells[c]);
    }
    if (!all) {
      const std::uint64_t left_out = table.rows.size() - rows;
      file_->rows_left_out += left_out;
      WriteText(kXlsxRowsMax - 1, 0, fmt::format("[{} more rows left out]", left_out), nullptr);
    }
    worksheet_autofilter(sheet_, 0, 0, static_cast<lxw_row_t>(rows),
                         static_cast<lxw_col_t>(columns - 1));
  }

  lxw_error error() const { return error_; }

 private:
  void SetWidths(const Table& table, std::size_t columns) {
    constexpr std::size_t kFilterButton = 3;
    for (std::size_t c = 0; c < columns; ++c) {
      std::size_t width = Units(ValidUtf8(table.columns[c])) + kFilterButton;
      for (std::size_t r = 0; r < std::min(table.rows.size(), kWidthRows); ++r) {
        if (c < table.rows[r].size()) width = std::max(width, WidthOf(table.rows[r][c]) + 1);
      }
      const auto at = static_cast<lxw_col_t>(c);
      Keep(worksheet_set_column(
          sheet_, at, at, static_cast<double>(std::clamp(width, kWidthMin, kWidthMax)), nullptr));
    }
  }

  void WriteCell(std::size_t r, std::size_t c, const Cell& cell) {
    const auto row = static_cast<lxw_row_t>(r);
    const auto column = static_cast<lxw_col_t>(c);
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
      if (*integer > kExactIntegerMax || *integer < -kExactIntegerMax) {
        WriteText(r, c, std::to_string(*integer), nullptr);
      } else {
        Keep(worksheet_write_number(sheet_, row, column, static_cast<double>(*integer),
                                    formats_.integer));
      }
    } else if (const auto* number = std::get_if<double>(&cell)) {
      if (!std::isfinite(*number)) return;
      Keep(worksheet_write_number(sheet_, row, column, *number,
                                  FormatOf(*number, percent_[c], formats_)));
    } else if (const auto* truth = std::get_if<bool>(&cell)) {
      Keep(worksheet_write_boolean(sheet_, row, column, *truth ? 1 : 0, nullptr));
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
      WriteText(r, c, *text, nullptr);
    }
  }

  void WriteText(std::size_t r, std::size_t c, std::string_view raw, lxw_format* format) {
    if (raw.empty()) return;
    const SafeText safe = MakeSafe(raw);
    file_->texts_cut += safe.cut ? 1 : 0;
    file_->texts_mended += safe.mended ? 1 : 0;
    Keep(worksheet_write_string(sheet_, static_cast<lxw_row_t>(r), static_cast<lxw_col_t>(c),
                                safe.text.c_str(), format));
  }

  void Keep(lxw_error error) {
    if (error_ == LXW_NO_ERROR) error_ = error;
  }

  lxw_worksheet* sheet_;
  const Formats& formats_;
  XlsxFile* file_;
  std::vector<bool> percent_;
  lxw_error error_ = LXW_NO_ERROR;
};

tl::unexpected<Error> FailedFor(const std::string& path, int error) {
  return Fail(ErrorCode::kIo, fmt::format("cannot write \"{}\": {}", path, std::strerror(error)),
              error == EMFILE || error == ENFILE
                  ? "close files, or allow the server more of them (ulimit -n)"
                  : "is the directory writable, and is there space on it?");
}

// `error_number`: errno when the library gave up. It calls want of a descriptor want of memory.
tl::unexpected<Error> Failed(const std::string& path, lxw_error error, int error_number) {
  if (error_number == EMFILE || error_number == ENFILE || error_number == ENOSPC ||
      error_number == EFBIG) {
    return FailedFor(path, error_number);
  }
  return Fail(ErrorCode::kIo, fmt::format("cannot write \"{}\": {}", path, lxw_strerror(error)),
              "is the directory writable, and is there space on it?");
}

// The name of an open file, which lasts as long as it is open.
std::string PathOf(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

// The files that the library keeps the rows of unfinished sheets in. When a workbook fails it
// forgets to close them, and does not say which ones it has closed; so they go through streams of
// ours, which know.
class SheetFiles {
 public:
  SheetFiles() = default;
  SheetFiles(const SheetFiles&) = delete;
  SheetFiles& operator=(const SheetFiles&) = delete;
  ~SheetFiles() {  // after the workbook is closed
    for (const auto& file : files_) {
      if (file->theirs != nullptr) std::fclose(file->stream);
    }
  }

  // False: no memory.
  bool Watch(lxw_worksheet* sheet) {
    auto file = std::make_unique<File>();
    file->theirs = sheet->optimize_tmpfile;
    const cookie_io_functions_t functions{&Read, &Write, &Seek, &Close};
    file->stream = ::fopencookie(file.get(), "w+", functions);
    if (file->stream == nullptr) return false;
    sheet->optimize_tmpfile = file->stream;
    sheet->file = file->stream;
    files_.push_back(std::move(file));
    return true;
  }

 private:
  struct File {
    FILE* theirs = nullptr;  // null: closed
    FILE* stream = nullptr;
  };

  static int Descriptor(void* cookie) { return ::fileno(static_cast<File*>(cookie)->theirs); }
  static ssize_t Read(void* cookie, char* buffer, std::size_t size) {
    return ::read(Descriptor(cookie), buffer, size);
  }
  static ssize_t Write(void* cookie, const char* buffer, std::size_t size) {
    std::size_t written = 0;
    while (written < size) {
      const ssize_t got = ::write(Descriptor(cookie), buffer + written, size - written);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return 0;
      written += static_cast<std::size_t>(got);
    }
    return static_cast<ssize_t>(written);
  }
  static int Seek(void* cookie, off64_t* offset, int from) {
    const off64_t place = ::lseek64(Descriptor(cookie), *offset, from);
    if (place < 0) return -1;
    *offset = place;
    return 0;
  }
  static int Close(void* cookie) {
    return std::fclose(std::exchange(static_cast<File*>(cookie)->theirs, nullptr));
  }

  std::vector<std::unique_ptr<File>> files_;
};

// Writes the file at `path` as it goes; the caller makes it atomic. `told`: its name in messages.
Result<XlsxFile> WriteBook(std::span<const Table> tables, const std::string& path,
                           const std::string& told, const std::string& tmp_dir) {
  XlsxFile file;
  std::string tmp = tmp_dir;
  lxw_workbook_options options{};
  options.constant_memory = LXW_TRUE;  // rows go to a file beside the result as they are written
  options.tmpdir = tmp.data();
  options.use_zip64 = LXW_FALSE;
  SheetFiles files;
  lxw_workbook* book = workbook_new_opt(path.c_str(), &options);
  if (book == nullptr) return Failed(told, LXW_ERROR_MEMORY_MALLOC_FAILED, errno);
  lxw_doc_properties properties{};
  properties.created = kCreated;
  workbook_set_properties(book, &properties);
  const Formats formats = MakeFormats(book);
  lxw_error error = LXW_NO_ERROR;
  int error_number = 0;
  // A workbook has one sheet at least.
  const Table nothing{"Sheet1", {}, {}};
  const std::span<const Table> sheets = tables.empty() ? std::span(&nothing, 1) : tables;
  for (const Table& table : sheets) {
    file.sheets.push_back(SheetName(table.name, file.sheets));
    errno = 0;
    lxw_worksheet* sheet = workbook_add_worksheet(book, file.sheets.back().c_str());
    if (sheet == nullptr || !files.Watch(sheet)) {
      error_number = errno;
      lxw_workbook_free(book);  // to close it would add a sheet where there is none, and crash
      return Failed(told, LXW_ERROR_MEMORY_MALLOC_FAILED, error_number);
    }
    Sheet writer(sheet, formats, &file);
    writer.Write(table);
    if (error == LXW_NO_ERROR) error = writer.error();
  }
  errno = 0;
  const lxw_error closed = workbook_close(book);  // frees it, whatever happens
  error_number = errno;
  if (error == LXW_NO_ERROR) error = closed;
  if (error != LXW_NO_ERROR) return Failed(told, error, error_number);
  return file;
}

}  // namespace

std::string SheetName(const std::string& table, std::span<const std::string> taken) {
  static constexpr std::string_view kForbidden = "[]:*?/\\";
  std::string base;
  for (const char c : ValidUtf8(table)) {
    const bool bad = static_cast<unsigned char>(c) < 0x20 || kForbidden.find(c) != kForbidden.npos;
    base.push_back(bad ? '_' : c);
  }
  base = FirstUnits(base, kSheetNameMax);
  // An apostrophe at an end would close the name in a formula; Excel keeps "History" for itself.
  if (base.starts_with('\'')) base.front() = '_';
  if (base.ends_with('\'')) base.back() = '_';
  if (base.empty()) base = "table";
  if (EqualsNoCase(base, "history")) base += "_";
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(taken.begin(), taken.end(),
                       [&](const std::string& other) { return EqualsNoCase(other, name); });
  };
  std::string name = base;
  for (int number = 2; is_taken(name); ++number) {
    const std::string suffix = fmt::format("~{}", number);
    name = FirstUnits(base, kSheetNameMax - suffix.size()) + suffix;
  }
  return name;
}

Result<XlsxFile> WriteXlsx(std::span<const Table> tables, const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) JV_TRY(io::MakeDirectories(parent.string()));
  io::TemporaryFile beside = io::TemporaryFile::Beside(path);
  if (!beside.valid()) return FailedFor(path, errno);
  // Through the descriptor: the library would follow a link that takes the name's place.
  JV_ASSIGN(XlsxFile file,
            WriteBook(tables, PathOf(beside.fd()), path, parent.empty() ? "." : parent.string()));
  struct stat status {};
  if (::fstat(beside.fd(), &status) == 0) file.bytes = static_cast<std::uint64_t>(status.st_size);
  if (!beside.Finish()) return FailedFor(path, errno);
  file.path = path;
  return file;
}

Result<XlsxFile> ToXlsx(std::span<const Table> tables, std::string* content) {
  // The library writes by name only; this file has one as long as it is open.
  const FileDescriptor memory(::memfd_create("workbook", MFD_CLOEXEC));
  if (!memory.valid()) {
    return Fail(ErrorCode::kIo, fmt::format("no memory for a workbook: {}", std::strerror(errno)));
  }
  std::error_code ignored;
  const std::string tmp = std::filesystem::temp_directory_path(ignored).string();
  JV_ASSIGN(XlsxFile file, WriteBook(tables, PathOf(memory.get()), "a workbook", tmp));
  struct stat status {};
  if (::fstat(memory.get(), &status) != 0) return Fail(ErrorCode::kIo, std::strerror(errno));
  content->resize(static_cast<std::size_t>(status.st_size));
  std::size_t filled = 0;
  while (filled < content->size()) {
    const ssize_t got = ::pread(memory.get(), content->data() + filled, content->size() - filled,
                                static_cast<off_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Fail(ErrorCode::kIo, "a workbook in memory could not be read back");
    filled += static_cast<std::size_t>(got);
  }
  file.bytes = content->size();
  return file;
}

}  // namespace jarvis::output
