#ifndef ORDO_BASE_FILES_FILE_UTIL_H_
#define ORDO_BASE_FILES_FILE_UTIL_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/files/files.h"

namespace ordo::base {

// Whole content of a file. RESOURCE_EXHAUSTED when it is longer than
// `max_bytes`; nothing is read then.
absl::StatusOr<std::string> ReadFile(Filesystem& files, const std::string& path,
                                     size_t max_bytes);

// True when something is at `path`. An error other than "not there" counts as
// there, so that nothing is overwritten by mistake.
bool Exists(Filesystem& files, const std::string& path);

// Replaces `path` by `contents` so that a reader, or a restart after a crash at
// any moment, sees the old content or the new one whole: written to a file
// aside in the same folder, fsynced, renamed, folder fsynced. After an error
// the old content stands and the file aside is gone.
absl::Status AtomicWrite(Filesystem& files, const std::string& path,
                         std::string_view contents);

// The same for what need not outlive a crash of the machine, which may leave
// the old content, the new, or an empty file.
absl::Status ReplaceFile(Filesystem& files, const std::string& path,
                         std::string_view contents);

// Whether a file is one that either of them wrote aside. It is left where its
// process dies before the rename.
bool IsAside(std::string_view name);

// "a" and "b" to "a/b"; "a/" and "b" too.
std::string JoinPath(std::string_view folder, std::string_view name);

// The folder part of a path: "a/b" to "a", "b" to ".", "/b" to "/".
std::string FolderOf(std::string_view path);

// The last part of a path.
std::string NameOf(std::string_view path);

// `relative` under `root`, for paths that come from outside. INVALID_ARGUMENT
// when it is empty, absolute, has an empty, "." or ".." part, or a NUL byte. It
// judges the text alone: folders under `root` hold no links that lead out.
absl::StatusOr<std::string> JoinUnder(std::string_view root,
                                      std::string_view relative);

}  // namespace ordo::base

#endif  // ORDO_BASE_FILES_FILE_UTIL_H_
