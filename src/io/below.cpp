#include "io/below.h"

#include <array>
#include <cerrno>
#include <climits>
#include <deque>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

namespace jarvis::io {
namespace {

// As many as Linux follows.
constexpr int kLinksMax = 40;

constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// The text of a link; empty: no link, or not there.
std::string LinkText(const std::string& path) {
  std::array<char, PATH_MAX> text{};
  const ssize_t length = ::readlink(path.c_str(), text.data(), text.size());
  return length <= 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(length));
}

FolderEntry::Kind KindOf(int folder, const dirent& entry) {
  if (entry.d_type == DT_REG) return FolderEntry::Kind::kFile;
  if (entry.d_type == DT_DIR) return FolderEntry::Kind::kFolder;
  if (entry.d_type != DT_UNKNOWN) return FolderEntry::Kind::kOther;
  struct stat status {};
  if (::fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
    return FolderEntry::Kind::kOther;
  if (S_ISREG(status.st_mode)) return FolderEntry::Kind::kFile;
  return S_ISDIR(status.st_mode) ? FolderEntry::Kind::kFolder : FolderEntry::Kind::kOther;
}

}  // namespace

std::vector<std::string> PathParts(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (!part.empty() && part != ".") parts.emplace_back(part);
  }
  return parts;
}

std::string WithoutLinks(const std::string& absolute) {
  const std::vector<std::string> parts = PathParts(absolute);
  std::deque<std::string> left(parts.begin(), parts.end());
  std::string done;  // empty: the root
  int links = 0;
  while (!left.empty()) {
    const std::string part = std::move(left.front());
    left.pop_front();
    if (part == "..") {
      done.erase(done.empty() ? 0 : done.rfind('/'));
      continue;
    }
    std::string next = done + "/" + part;
    const std::string link = links < kLinksMax ? LinkText(next) : std::string();
    if (link.empty()) {
      done = std::move(next);
      continue;
    }
    ++links;
    if (link.front() == '/') done.clear();
    const std::vector<std::string> more = PathParts(link);
    left.insert(left.begin(), more.begin(), more.end());
  }
  return done.empty() ? "/" : done;
}

bool IsBelow(std::string_view path, std::string_view root) {
  if (root == "/") return path.starts_with('/');
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

FileDescriptor OpenFolderBelow(int root, std::string_view relative, Missing missing) {
  FileDescriptor folder(::openat(root, ".", kFolderFlags));
  for (const std::string& part : PathParts(relative)) {
    if (!folder.valid()) return folder;
    if (part == "..") {
      errno = EINVAL;
      return {};
    }
    if (missing == Missing::kMake) static_cast<void>(::mkdirat(folder.get(), part.c_str(), 0755));
    folder = FileDescriptor(::openat(folder.get(), part.c_str(), kFolderFlags));
  }
  return folder;
}

bool ReadFolder(int folder, std::size_t entries_max, std::vector<FolderEntry>* entries) {
  FileDescriptor again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again.valid()) return false;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(again.get()), &::closedir);
  if (stream == nullptr) return false;
  const int fd = again.release();
  while (entries->size() < entries_max) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) return errno == 0;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") entries->push_back({std::string(name), KindOf(fd, *entry)});
  }
  return true;
}

FileDescriptor OpenFileBelow(int root, std::string_view relative, int flags) {
  const std::size_t slash = relative.rfind('/');
  const std::string_view folder_path =
      slash == std::string_view::npos ? std::string_view() : relative.substr(0, slash);
  const std::string name(slash == std::string_view::npos ? relative : relative.substr(slash + 1));
  const FileDescriptor folder = OpenFolderBelow(root, folder_path, Missing::kFail);
  if (!folder.valid() || name == "..") {
    if (folder.valid()) errno = EINVAL;
    return {};
  }
  return FileDescriptor(::openat(folder.get(), name.empty() ? "." : name.c_str(),
                                 flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644));
}

}  // namespace jarvis::io
