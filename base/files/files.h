#ifndef ORDO_BASE_FILES_FILES_H_
#define ORDO_BASE_FILES_FILES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ordo::base {

// A file being written at its end. Not thread-safe. Closes itself when
// destroyed, without reporting an error: call Close where that matters.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  // Writes all of `data` at the end. After an error, part may be written.
  virtual absl::Status Append(std::string_view data) = 0;
  // Makes everything appended durable (fdatasync).
  virtual absl::Status Sync() = 0;
  virtual absl::Status Close() = 0;
};

// A file being read. Thread-safe.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;

  // Up to `num_bytes` from `offset`; fewer only at the end of the file.
  virtual absl::StatusOr<std::string> ReadAt(uint64_t offset,
                                             size_t num_bytes) = 0;
  // Size now, in bytes; another process may append.
  virtual absl::StatusOr<uint64_t> Size() = 0;
  // Where it lies, links resolved, whatever has been put at the path that it
  // was opened by since.
  virtual absl::StatusOr<std::string> RealPath() = 0;
};

struct FileInfo {
  bool is_folder = false;
  uint64_t size_bytes = 0;
  absl::Time modified;
};

enum class WriteMode {
  kTruncate,   // create, or empty an existing file
  kAppend,     // create, or go on at the end
  kCreateNew,  // ALREADY_EXISTS when there is a file
  kExisting,   // go on at the end; NOT_FOUND when there is none
};

// Access to files. All paths are absolute or relative to the process's folder.
// Errors are those of the system call, translated by SystemError: NOT_FOUND,
// ALREADY_EXISTS, PERMISSION_DENIED, RESOURCE_EXHAUSTED (disk full),
// DATA_LOSS (I/O error) ...; every message names the path. Thread-safe.
class Filesystem {
 public:
  virtual ~Filesystem() = default;

  virtual absl::StatusOr<std::unique_ptr<WritableFile>> OpenForWrite(
      const std::string& path, WriteMode mode) = 0;
  // FAILED_PRECONDITION for a pipe or a socket, which is not waited for.
  virtual absl::StatusOr<std::unique_ptr<ReadableFile>> OpenForRead(
      const std::string& path) = 0;

  // Makes the entries of a folder durable.
  virtual absl::Status SyncFolder(const std::string& path) = 0;
  // Replaces `to` when it is a file.
  virtual absl::Status Rename(const std::string& from,
                              const std::string& to) = 0;
  virtual absl::Status Truncate(const std::string& path,
                                uint64_t size_bytes) = 0;
  // Names (not paths) of a folder's entries, sorted.
  virtual absl::StatusOr<std::vector<std::string>> List(
      const std::string& path) = 0;
  virtual absl::Status RemoveFile(const std::string& path) = 0;
  // Removes a file or a folder with all in it; OK when there is none. Links are
  // removed, not followed, those neither that take a folder's place meanwhile.
  // FAILED_PRECONDITION: folders lie more than a hundred deep in each other, as
  // nobody makes them who means well.
  virtual absl::Status RemoveTree(const std::string& path) = 0;
  // The same of what lies at `relative` below `root`. INVALID_ARGUMENT when
  // that has an empty, "." or ".." part; FAILED_PRECONDITION when a folder on
  // the way is a link: others may write there, and have it lead elsewhere.
  virtual absl::Status RemoveUnder(const std::string& root,
                                   const std::string& relative) = 0;
  // Makes a folder and its missing parents; OK when it exists.
  virtual absl::Status MakeFolders(const std::string& path) = 0;
  virtual absl::StatusOr<FileInfo> Stat(const std::string& path) = 0;
  // Bytes that an unprivileged process can still write where `path` lies.
  virtual absl::StatusOr<uint64_t> FreeBytes(const std::string& path) = 0;
  // What the symbolic link at `path` holds. FAILED_PRECONDITION: what lies
  // there is none.
  virtual absl::StatusOr<std::string> ReadLink(const std::string& path) = 0;
  // Puts a symbolic link that holds `target`, which need not be there, at
  // `path`, in the place of a link or file that is there, in one step.
  virtual absl::Status ReplaceLink(const std::string& target,
                                   const std::string& path) = 0;
};

// The files of this machine.
class PosixFilesystem : public Filesystem {
 public:
  absl::StatusOr<std::unique_ptr<WritableFile>> OpenForWrite(
      const std::string& path, WriteMode mode) override;
  absl::StatusOr<std::unique_ptr<ReadableFile>> OpenForRead(
      const std::string& path) override;
  absl::Status SyncFolder(const std::string& path) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Truncate(const std::string& path, uint64_t size_bytes) override;
  absl::StatusOr<std::vector<std::string>> List(
      const std::string& path) override;
  absl::Status RemoveFile(const std::string& path) override;
  absl::Status RemoveTree(const std::string& path) override;
  absl::Status RemoveUnder(const std::string& root,
                           const std::string& relative) override;
  absl::Status MakeFolders(const std::string& path) override;
  absl::StatusOr<FileInfo> Stat(const std::string& path) override;
  absl::StatusOr<uint64_t> FreeBytes(const std::string& path) override;
  absl::StatusOr<std::string> ReadLink(const std::string& path) override;
  absl::Status ReplaceLink(const std::string& target,
                           const std::string& path) override;
};

}  // namespace ordo::base

#endif  // ORDO_BASE_FILES_FILES_H_
