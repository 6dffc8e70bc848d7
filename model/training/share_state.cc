#include "model/training/share_state.h"

#include <cstdint>
#include <vector>

#include "ATen/ops/tensor.h"
#include "base/status/status.h"
#include "model/guard.h"
#include "model/training/snapshot.h"

namespace ordo::model::training {

absl::Status ShareState(Collective* collective, Run* run) {
  Snapshot state = run->State();
  std::vector<at::Tensor> tensors;
  ORDO_RETURN_IF_ERROR(Guard("share the state", [&] {
    for (const TensorMap* map : {&state.parameters, &state.optimizer}) {
      for (const auto& [name, tensor] : *map) {
        tensors.push_back(tensor.detach());
      }
    }
    const Cursors& cursors = state.cursors;
    const std::vector<int64_t> numbers = {cursors.step, cursors.tokens,
                                          cursors.samples, cursors.updates,
                                          cursors.skipped_in_a_row};
    tensors.push_back(at::tensor(numbers).to(run->model().device()));
  }));
  ORDO_RETURN_IF_ERROR(collective->Broadcast(tensors));
  if (collective->rank() == 0) return absl::OkStatus();
  ORDO_RETURN_IF_ERROR(Guard("take the shared state", [&] {
    const at::Tensor numbers = tensors.back().cpu();
    const auto* number = numbers.const_data_ptr<int64_t>();
    Cursors& cursors = state.cursors;
    for (int64_t* cursor : {&cursors.step, &cursors.tokens, &cursors.samples,
                            &cursors.updates, &cursors.skipped_in_a_row}) {
      *cursor = *number++;
    }
  }));
  // The tensors lie where they belong already.
  return run->Load(state);
}

}  // namespace ordo::model::training
