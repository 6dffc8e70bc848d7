#include "base/files/files.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>

#include "base/status/status.h"

namespace ordo::base {
namespace {

constexpr mode_t kFileMode = 0644;
// A umask of 002 lets a group remove what lies in them.
constexpr mode_t kFolderMode = 0775;
constexpr uint64_t kPartBytes = 64 << 10;
// Folders in each other that are removed together.
constexpr int kMaxFolderDepth = 100;

absl::Status LastError(std::string_view attempted, const std::string& path) {
  const int error_number = errno;
  return SystemError(error_number, std::string(attempted) + " " + path);
}

// Calls `call` again while a signal interrupts it.
template <typename Call>
auto Retry(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return descriptor_; }
  int Release() { return std::exchange(descriptor_, -1); }
  // Leaves errno as it is.
  void Reset(int descriptor) {
    const int error_number = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = descriptor;
    errno = error_number;
  }

 private:
  int descriptor_;
};

class PosixWritableFile : public WritableFile {
 public:
  PosixWritableFile(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}

  absl::Status Append(std::string_view data) override {
    while (!data.empty()) {
      const ssize_t written = Retry(
          [&] { return ::write(descriptor_.get(), data.data(), data.size()); });
      if (written < 0) return LastError("write", path_);
      data.remove_prefix(static_cast<size_t>(written));
    }
    return absl::OkStatus();
  }

  absl::Status Sync() override {
    if (Retry([&] { return ::fdatasync(descriptor_.get()); }) != 0) {
      return LastError("sync", path_);
    }
    return absl::OkStatus();
  }

  absl::Status Close() override {
    // Not retried: Linux closes even when it reports an interruption.
    if (::close(descriptor_.Release()) != 0 && errno != EINTR) {
      return LastError("close", path_);
    }
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  FileDescriptor descriptor_;
};

class PosixReadableFile : public ReadableFile {
 public:
  PosixReadableFile(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}

  absl::StatusOr<std::string> ReadAt(uint64_t offset,
                                     size_t num_bytes) override {
    // Never more memory than the file can fill. Some, those in /proc, do not
    // tell how much that is, and are read part by part.
    ORDO_ASSIGN_OR_RETURN(const uint64_t size, Size());
    const uint64_t available = offset < size ? size - offset : 0;
    const uint64_t wanted =
        size == 0 ? num_bytes : std::min<uint64_t>(num_bytes, available);
    std::string data;
    while (data.size() < wanted) {
      const size_t filled = data.size();
      data.resize(size == 0 ? std::min<uint64_t>(wanted, filled + kPartBytes)
                            : wanted);
      const ssize_t count = Retry([&] {
        return ::pread(descriptor_.get(), &data[filled], data.size() - filled,
                       static_cast<off_t>(offset + filled));
      });
      if (count < 0) return LastError("read", path_);
      data.resize(filled + static_cast<size_t>(count));
      if (count == 0) break;
    }
    return data;
  }

  absl::StatusOr<uint64_t> Size() override {
    struct stat info;
    if (::fstat(descriptor_.get(), &info) != 0) return LastError("stat", path_);
    return static_cast<uint64_t>(info.st_size);
  }

  absl::StatusOr<std::string> RealPath() override {
    return PosixFilesystem().ReadLink("/proc/self/fd/" +
                                      std::to_string(descriptor_.get()));
  }

 private:
  const std::string path_;
  FileDescriptor descriptor_;
};

// Removes what is called `name` in an open folder; `path` is for messages.
// `depth` is that of the folder in what is removed.
absl::Status RemoveIn(int folder, const std::string& name,
                      const std::string& path, int depth = 0) {
  if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) {
    return absl::OkStatus();
  }
  // Of folders some filesystems say the one, some the other.
  const int refusal = errno;
  if (refusal != EISDIR && refusal != EPERM) return LastError("remove", path);
  // Each is an open file and a frame of the stack, and whoever made them may
  // mean no good.
  if (depth >= kMaxFolderDepth) {
    return absl::FailedPreconditionError(
        "remove " + path + ": folders lie more than " +
        std::to_string(kMaxFolderDepth) +
        " deep in each other; remove them by hand");
  }
  const int inner = ::openat(folder, name.c_str(),
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0) {
    return SystemError(errno == ENOTDIR ? refusal : errno, "remove " + path);
  }
  DIR* const entries = ::fdopendir(inner);
  if (entries == nullptr) {
    const int error_number = errno;
    ::close(inner);
    return SystemError(error_number, "remove " + path);
  }
  absl::Status status;
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(entries)) {
    names.emplace_back(entry->d_name);
  }
  if (errno != 0) status = LastError("list", path);
  for (const std::string& each : names) {
    if (!status.ok()) break;
    if (each != "." && each != "..") {
      status = RemoveIn(inner, each, path + "/" + each, depth + 1);
    }
  }
  ::closedir(entries);
  ORDO_RETURN_IF_ERROR(status);
  if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) != 0) {
    return LastError("remove folder", path);
  }
  return absl::OkStatus();
}

int OpenFlags(WriteMode mode) {
  switch (mode) {
    case WriteMode::kTruncate:
      return O_CREAT | O_TRUNC;
    case WriteMode::kAppend:
      return O_CREAT | O_APPEND;
    case WriteMode::kCreateNew:
      return O_CREAT | O_EXCL;
    case WriteMode::kExisting:
      return O_APPEND;
  }
  return 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<WritableFile>> PosixFilesystem::OpenForWrite(
    const std::string& path, WriteMode mode) {
  const int flags = O_WRONLY | O_CLOEXEC | OpenFlags(mode);
  const int descriptor =
      Retry([&] { return ::open(path.c_str(), flags, kFileMode); });
  if (descriptor < 0) return LastError("open for writing", path);
  return std::make_unique<PosixWritableFile>(path, descriptor);
}

absl::StatusOr<std::unique_ptr<ReadableFile>> PosixFilesystem::OpenForRead(
    const std::string& path) {
  // Without O_NONBLOCK to open a pipe is to wait for who writes to it.
  FileDescriptor file(Retry(
      [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  if (file.get() < 0) return LastError("open", path);
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return LastError("stat", path);
  if (S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)) {
    return absl::FailedPreconditionError("open " + path +
                                         ": it is a pipe, and no file");
  }
  return std::make_unique<PosixReadableFile>(path, file.Release());
}

absl::Status PosixFilesystem::SyncFolder(const std::string& path) {
  const FileDescriptor folder(Retry([&] {
    return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }));
  if (folder.get() < 0) return LastError("open folder", path);
  if (Retry([&] { return ::fsync(folder.get()); }) != 0) {
    return LastError("sync folder", path);
  }
  return absl::OkStatus();
}

absl::Status PosixFilesystem::Rename(const std::string& from,
                                     const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return LastError("rename " + from + " to", to);
  }
  return absl::OkStatus();
}

absl::Status PosixFilesystem::Truncate(const std::string& path,
                                       uint64_t size_bytes) {
  const auto size = static_cast<off_t>(size_bytes);
  if (Retry([&] { return ::truncate(path.c_str(), size); }) != 0) {
    return LastError("truncate", path);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> PosixFilesystem::List(
    const std::string& path) {
  DIR* const folder = ::opendir(path.c_str());
  if (folder == nullptr) return LastError("list", path);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  const int error_number = errno;
  ::closedir(folder);
  if (error_number != 0) return SystemError(error_number, "list " + path);
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status PosixFilesystem::RemoveFile(const std::string& path) {
  if (::unlink(path.c_str()) != 0) return LastError("remove", path);
  return absl::OkStatus();
}

absl::Status PosixFilesystem::RemoveTree(const std::string& path) {
  return RemoveIn(AT_FDCWD, path, path);
}

absl::Status PosixFilesystem::RemoveUnder(const std::string& root,
                                          const std::string& relative) {
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  const std::string path = root + "/" + relative;
  FileDescriptor folder(::open(root.c_str(), kFlags));
  std::string_view rest = relative;
  while (true) {
    if (folder.get() < 0) {
      if (errno == ENOENT) return absl::OkStatus();
      if (errno != ENOTDIR && errno != ELOOP) return LastError("remove", path);
      return absl::FailedPreconditionError(
          "remove " + path + ": a part of its path is a link, or no folder");
    }
    const size_t slash = rest.find('/');
    const std::string part(rest.substr(0, slash));
    if (part.empty() || part == "." || part == "..") {
      return absl::InvalidArgumentError("remove " + path +
                                        ": its path has a part that is none");
    }
    if (slash == std::string_view::npos) {
      return RemoveIn(folder.get(), part, path);
    }
    rest.remove_prefix(slash + 1);
    folder.Reset(::openat(folder.get(), part.c_str(), kFlags | O_NOFOLLOW));
  }
}

absl::Status PosixFilesystem::MakeFolders(const std::string& path) {
  if (::mkdir(path.c_str(), kFolderMode) == 0) return absl::OkStatus();
  if (errno == EEXIST) {
    ORDO_ASSIGN_OR_RETURN(const FileInfo info, Stat(path));
    if (info.is_folder) return absl::OkStatus();
    return SystemError(ENOTDIR, "make folder " + path);
  }
  const size_t slash = path.find_last_of('/');
  if (errno != ENOENT || slash == std::string::npos || slash == 0) {
    return LastError("make folder", path);
  }
  ORDO_RETURN_IF_ERROR(MakeFolders(path.substr(0, slash)));
  // Another process may have made it meanwhile.
  if (::mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    return LastError("make folder", path);
  }
  return absl::OkStatus();
}

absl::StatusOr<FileInfo> PosixFilesystem::Stat(const std::string& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return LastError("stat", path);
  FileInfo result;
  result.is_folder = S_ISDIR(info.st_mode);
  result.size_bytes = static_cast<uint64_t>(info.st_size);
  result.modified = absl::TimeFromTimespec(info.st_mtim);
  return result;
}

absl::StatusOr<uint64_t> PosixFilesystem::FreeBytes(const std::string& path) {
  struct statvfs info;
  if (::statvfs(path.c_str(), &info) != 0) {
    return LastError("free space of", path);
  }
  return static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
}

absl::StatusOr<std::string> PosixFilesystem::ReadLink(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof(target));
  if (length < 0 && errno == EINVAL) {
    return absl::FailedPreconditionError(path + " is no symbolic link");
  }
  if (length < 0) return LastError("read link", path);
  return std::string(target, static_cast<size_t>(length));
}

absl::Status PosixFilesystem::ReplaceLink(const std::string& target,
                                          const std::string& path) {
  const size_t name = path.find_last_of('/') + 1;
  std::string aside = path;
  aside.insert(name, ".link-" + std::to_string(::getpid()) + "-");
  // One that a process left that died here.
  ::unlink(aside.c_str());
  if (::symlink(target.c_str(), aside.c_str()) != 0) {
    return LastError("make link", aside);
  }
  const absl::Status status = Rename(aside, path);
  if (!status.ok()) ::unlink(aside.c_str());
  return status;
}

}  // namespace ordo::base
