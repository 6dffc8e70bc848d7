#include "worker/agent/testing/made_up_gpus.h"

#include <cstdlib>

#include "base/check.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "worker/agent/testing/programs.h"

namespace ordo::worker::agent::testing {
namespace {

constexpr char kVariable[] = "ORDO_FAKE_NVML";

}  // namespace

MadeUpGpus::MadeUpGpus(const std::string& folder) : path_(folder + "/gpus") {
  setenv(kVariable, path_.c_str(), /*overwrite=*/1);
}

MadeUpGpus::~MadeUpGpus() { unsetenv(kVariable); }

void MadeUpGpus::Write(const std::string& text) {
  base::PosixFilesystem files;
  const absl::Status status = base::AtomicWrite(files, path_, text);
  ORDO_CHECK(status.ok()) << status;
}

absl::StatusOr<std::unique_ptr<Nvml>> MadeUpGpus::Load() const {
  return Nvml::Load(BinFolder() + "/worker/agent/testing/libfake_nvml.so");
}

}  // namespace ordo::worker::agent::testing
