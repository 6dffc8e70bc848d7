#include "model/training/nccl/load.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace ordo::model::training::nccl {
namespace {

constexpr struct {
  const char* name;
  const char* value;
} kSettings[] = {
    // A call's error is thrown where it is waited for, and nothing watches.
    {"TORCH_NCCL_BLOCKING_WAIT", "1"},
    {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "0"},
    {"TORCH_NCCL_ENABLE_MONITORING", "0"},
};

absl::StatusOr<const Library*> Open(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "there is no library of NCCL at ", path,
        ", which several ranks on cuda need: build "
        "//model/training/nccl:libordo_nccl.so on a machine whose CUDA toolkit "
        "has NCCL (include/nccl.h), or take resources.ranks 1"));
  }
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("the library of NCCL cannot be loaded: ", dlerror()));
  }
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, kEntry));
  if (entry == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is no library of NCCL: it has no ", kEntry));
  }
  if (std::strcmp(entry()->build, kBuild) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is of another build (", entry()->build,
                     ") than this program (", kBuild, "): build both again"));
  }
  return entry();
}

}  // namespace

absl::StatusOr<const Library*> LoadLibrary(const std::string& path) {
  static const Library* loaded = nullptr;
  if (loaded != nullptr) return loaded;
  // Read when a group is made.
  for (const auto& setting : kSettings) {
    setenv(setting.name, setting.value, /*overwrite=*/1);
  }
  const absl::StatusOr<const Library*> library = Open(path);
  if (library.ok()) loaded = *library;
  return library;
}

}  // namespace ordo::model::training::nccl
