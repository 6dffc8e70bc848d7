#include "kernels/cuda/load.h"

#include <dlfcn.h>
#include <unistd.h>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kernels/attention/cuda_rows.h"
#include "kernels/attention/table.h"
#include "kernels/rows/cuda_rows.h"
#include "kernels/update/cuda_rows.h"

namespace ordo::kernels::cuda {
namespace {

absl::StatusOr<const CudaLibrary*> Open(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0) {
    return absl::NotFoundError(absl::StrCat(
        "there is no library of CUDA kernels at ", path,
        ": build //kernels/cuda:libordo_cuda.so on a machine with nvcc"));
  }
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the library of CUDA kernels cannot be loaded: ", dlerror()));
  }
  const auto entry = reinterpret_cast<CudaEntry>(dlsym(handle, kCudaEntry));
  if (entry == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " is no library of CUDA kernels: it has no ", kCudaEntry));
  }
  const CudaLibrary* const library = entry();
  if (library->call_bytes != CallBytes()) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, " is of another build than this program: build both again"));
  }
  return library;
}

}  // namespace

absl::StatusOr<const CudaLibrary*> LoadCuda(const std::string& path) {
  static const CudaLibrary* loaded = nullptr;
  if (loaded != nullptr) return loaded;
  const absl::StatusOr<const CudaLibrary*> library = Open(path);
  if (!library.ok()) return library;
  std::vector<attention::Kernel> kernels;
  for (int i = 0; i < (*library)->num_attention; ++i) {
    kernels.push_back(attention::CudaKernel(*(*library)->attention[i]));
  }
  attention::AddKernels(kernels);
  update::AddKernels({update::CudaKernel(*(*library)->update)});
  rows::AddKernels({rows::CudaKernel(*(*library)->rows)});
  loaded = *library;
  return loaded;
}

}  // namespace ordo::kernels::cuda
