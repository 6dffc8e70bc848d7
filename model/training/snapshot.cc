#include "model/training/snapshot.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/digest/digest.h"

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

TensorMap CopyOf(const TensorMap& tensors) {
  TensorMap copy;
  for (const auto& [name, tensor] : tensors) {
    copy.emplace(name, tensor.detach().clone());
  }
  return copy;
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
  return digest.FinishHex();
}

Snapshot Copy(const Snapshot& snapshot) {
  return {CopyOf(snapshot.parameters), CopyOf(snapshot.optimizer),
          snapshot.cursors, snapshot.recipe};
}

TensorMap ParametersOf(const transformer::Transformer& model) {
  TensorMap parameters;
  for (const auto& named : model.Parameters()) {
    parameters[named.name] = named.tensor.detach();
  }
  return parameters;
}

}  // namespace ordo::model::training
