#include "base/files/secret_file.h"

#include <cerrno>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/status.h"

namespace ordo::base {
namespace {

absl::Status Fill(const std::string& path, std::string_view contents) {
  PosixFilesystem files;
  ORDO_ASSIGN_OR_RETURN(const auto file,
                        files.OpenForWrite(path, WriteMode::kExisting));
  ORDO_RETURN_IF_ERROR(file->Append(contents));
  ORDO_RETURN_IF_ERROR(file->Sync());
  return file->Close();
}

}  // namespace

absl::Status WriteSecretFile(const std::string& path,
                             std::string_view contents) {
  // mkstemp makes files of mode 0600.
  std::string aside = path + ".XXXXXX";
  const int made = ::mkstemp(aside.data());
  if (made < 0) {
    const int error = errno;
    return SystemError(error, "make " + aside);
  }
  ::close(made);
  PosixFilesystem files;
  absl::Status status = Fill(aside, contents);
  if (status.ok()) status = files.Rename(aside, path);
  if (!status.ok()) {
    ::unlink(aside.c_str());
    return status;
  }
  return files.SyncFolder(FolderOf(path));
}

}  // namespace ordo::base
