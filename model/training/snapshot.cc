#include "model/training/snapshot.h"

#include "ATen/ops/empty.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/digest/digest.h"
#include "c10/core/impl/VirtualGuardImpl.h"

namespace ordo::model::training {
namespace {

void Add(const TensorMap& tensors, base::Sha256* digest) {
  digest->Update(absl::StrCat(tensors.size(), "\n"));
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor whole = tensor.detach().cpu().contiguous();
    digest->Update(absl::StrCat(name, " ", c10::toString(whole.scalar_type()),
                                " ", absl::StrJoin(whole.sizes(), ","), "\n"));
    digest->Update(
        {static_cast<const char*>(whole.const_data_ptr()), whole.nbytes()});
  }
}

// From a GPU all copies are under way together, into memory that it writes by
// itself; WaitFor ends them.
TensorMap CopyOf(const TensorMap& tensors) {
  TensorMap copy;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor own = tensor.detach();
    if (!own.is_cuda()) {
      copy.emplace(name, own.clone());
      continue;
    }
    const auto on_host = at::TensorOptions(own.scalar_type());
    copy.emplace(name, at::empty(own.sizes(), on_host.pinned_memory(true))
                           .copy_(own, /*non_blocking=*/true));
  }
  return copy;
}

// Until all that was queued for the device of `tensors` is done.
void WaitFor(const TensorMap& tensors) {
  if (tensors.empty() || !tensors.begin()->second.is_cuda()) return;
  const c10::Device device = tensors.begin()->second.device();
  c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
}

}  // namespace

std::string StateDigest(const Snapshot& snapshot) {
  base::Sha256 digest;
  Add(snapshot.parameters, &digest);
  Add(snapshot.optimizer, &digest);
  const Cursors& cursors = snapshot.cursors;
  digest.Update(absl::StrCat(cursors.step, " ", cursors.tokens, " ",
                             cursors.samples, " ", cursors.updates, " ",
                             cursors.skipped_in_a_row, "\n", snapshot.recipe,
                             "\n"));
  if (!snapshot.data_fingerprint.empty()) {
    digest.Update(absl::StrCat("data ", snapshot.data_fingerprint, "\n"));
  }
  return digest.FinishHex();
}

Snapshot Copy(const Snapshot& snapshot) {
  Snapshot copy = {CopyOf(snapshot.parameters),
                   CopyOf(snapshot.optimizer),
                   snapshot.cursors,
                   snapshot.recipe,
                   snapshot.attention_kernels,
                   snapshot.data_fingerprint};
  WaitFor(snapshot.parameters);
  return copy;
}

TensorMap ParametersOf(const transformer::Transformer& model) {
  TensorMap parameters;
  for (const auto& named : model.Parameters()) {
    parameters[named.name] = named.tensor.detach();
  }
  return parameters;
}

}  // namespace ordo::model::training
