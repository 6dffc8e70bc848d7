#include "tests/bench/outputs.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "report/figure.h"

namespace ordo::tests::bench {
namespace {

absl::Status Refused(const char* flag, const std::string& why) {
  return absl::FailedPreconditionError(absl::StrCat(flag, ": ", why));
}

}  // namespace

absl::Status CheckJsonFile(const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  base::PosixFilesystem files;
  const auto there = files.Stat(path);
  if (there.ok() && there->is_folder) {
    return Refused("--json", absl::StrCat(path, " is a folder; name a file"));
  }
  const std::string trial = absl::StrCat(path, ".trial-", getpid());
  const absl::Status written = base::AtomicWrite(files, trial, "");
  files.RemoveFile(trial).IgnoreError();
  if (written.ok()) return absl::OkStatus();
  return Refused("--json", absl::StrCat("no file can be written there: ",
                                        written.message()));
}

absl::Status CheckPlotsFolder(const std::string& folder) {
  if (folder.empty()) return absl::OkStatus();
  base::PosixFilesystem files;
  absl::Status status = files.MakeFolders(folder);
  if (status.ok()) {
    for (const auto form :
         {report::FigureForm::kSvg, report::FigureForm::kPng}) {
      const std::string trial = base::JoinPath(
          folder,
          absl::StrCat(".trial-", getpid(), "-", static_cast<int>(form)));
      constexpr int kSidePx = 100;
      status.Update(report::Draw(files, {"plot [0:1] 0\n", kSidePx, kSidePx},
                                 form, trial));
      files.RemoveFile(trial).IgnoreError();
    }
  }
  if (status.ok()) return status;
  return Refused("--plots", absl::StrCat("no figures can be drawn there: ",
                                         status.message()));
}

}  // namespace ordo::tests::bench
