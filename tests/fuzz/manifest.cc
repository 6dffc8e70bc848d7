// MANIFEST.json of a checkpoint: by the server that takes an upload, for which
// what was read is written in one form, and by the trainer that resumes from
// it, which finds the folder good or names what is wrong.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "model/training/durable_folder.h"
#include "services/checkpoints/upload_list.h"

namespace ordo::tests::fuzz {
namespace {

void CheckUpload(const std::string& text) {
  const auto upload = services::checkpoints::ParseManifest(text);
  if (!upload.ok()) {
    ORDO_CHECK(absl::IsDataLoss(upload.status())) << upload.status();
    return;
  }
  services::checkpoints::CheckUploadList(*upload).IgnoreError();
  const std::string written = services::checkpoints::ManifestText(*upload);
  const auto again = services::checkpoints::ParseManifest(written);
  ORDO_CHECK(again.ok()) << again.status() << " of\n" << written;
  ORDO_CHECK(services::checkpoints::ManifestText(*again) == written) << written;
}

void CheckFolder(const std::string& text) {
  static base::PosixFilesystem& files = *new base::PosixFilesystem;
  static const auto& folder = *new base::testing::TemporaryFolder;
  const std::string path = folder.Path(model::training::kManifestFile);
  {
    auto file = files.OpenForWrite(path, base::WriteMode::kTruncate);
    ORDO_CHECK(file.ok() && (*file)->Append(text).ok() &&
               (*file)->Close().ok());
  }
  const absl::Status status =
      model::training::VerifyManifest(files, folder.path(), "");
  ORDO_CHECK(status.ok() || absl::IsDataLoss(status) ||
             absl::IsNotFound(status))
      << status;
}

}  // namespace
}  // namespace ordo::tests::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  ordo::tests::fuzz::CheckUpload(text);
  ordo::tests::fuzz::CheckFolder(text);
  return 0;
}
