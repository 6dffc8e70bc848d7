#include "base/files/file_util.h"

#include <atomic>
#include <memory>
#include <unistd.h>

#include "base/status/status.h"

namespace ordo::base {
namespace {

constexpr char kAside[] = ".aside-";

// Unique among the live processes of a machine and the calls of this one.
std::string AsidePath(const std::string& path) {
  static std::atomic<uint64_t> num_calls{0};
  return path + kAside + std::to_string(::getpid()) + "-" +
         std::to_string(num_calls++);
}

absl::Status Write(Filesystem& files, const std::string& path,
                   std::string_view contents, bool durably) {
  ORDO_ASSIGN_OR_RETURN(auto file,
                        files.OpenForWrite(path, WriteMode::kTruncate));
  ORDO_RETURN_IF_ERROR(file->Append(contents));
  if (durably) ORDO_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

absl::Status Replace(Filesystem& files, const std::string& path,
                     std::string_view contents, bool durably) {
  const std::string aside = AsidePath(path);
  absl::Status status = Write(files, aside, contents, durably);
  if (status.ok()) status = files.Rename(aside, path);
  if (!status.ok()) {
    // The first error is the one to report.
    files.RemoveTree(aside).IgnoreError();
    return status;
  }
  return durably ? files.SyncFolder(FolderOf(path)) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> ReadFile(Filesystem& files, const std::string& path,
                                     size_t max_bytes) {
  ORDO_ASSIGN_OR_RETURN(auto file, files.OpenForRead(path));
  ORDO_ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  if (size > max_bytes) {
    return absl::ResourceExhaustedError(
        "read " + path + ": it has " + std::to_string(size) +
        " bytes; at most " + std::to_string(max_bytes) + " are accepted");
  }
  // Some files, those in /proc, do not tell their size.
  if (size == 0) return file->ReadAt(0, max_bytes);
  return file->ReadAt(0, size);
}

bool Exists(Filesystem& files, const std::string& path) {
  return !absl::IsNotFound(files.Stat(path).status());
}

absl::Status AtomicWrite(Filesystem& files, const std::string& path,
                         std::string_view contents) {
  return Replace(files, path, contents, /*durably=*/true);
}

absl::Status ReplaceFile(Filesystem& files, const std::string& path,
                         std::string_view contents) {
  return Replace(files, path, contents, /*durably=*/false);
}

bool IsAside(std::string_view name) {
  return name.find(kAside) != std::string_view::npos;
}

std::string JoinPath(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty() && path.back() != '/') path += '/';
  return path.append(name);
}

std::string FolderOf(std::string_view path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(path.substr(0, slash == 0 ? 1 : slash));
}

std::string NameOf(std::string_view path) {
  return std::string(path.substr(path.find_last_of('/') + 1));
}

absl::StatusOr<std::string> JoinUnder(std::string_view root,
                                      std::string_view relative) {
  const auto refuse = [&](const std::string& why) {
    return absl::InvalidArgumentError("path '" + std::string(relative) + "' " +
                                      why);
  };
  if (relative.find('\0') != std::string_view::npos) {
    return refuse("has a NUL byte");
  }
  std::string_view rest = relative;
  while (true) {
    const size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part.empty() || part == "." || part == "..") {
      return refuse(
          "must be relative, without empty, '.' or '..' parts between slashes");
    }
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  return JoinPath(root, relative);
}

}  // namespace ordo::base
