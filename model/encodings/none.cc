#include <memory>

#include "model/encodings/registry.h"

// NoPE (Kazemnejad et al. 2023): the do-nothing interface itself.

namespace ordo::model::encodings {
namespace {

class None : public Encoding {};

}  // namespace

absl::StatusOr<std::unique_ptr<Encoding>> MakeNone(
    const ordo::training::v1::Component&, const ModelShape&,
    parameters::ParameterSet*) {
  return std::make_unique<None>();
}

}  // namespace ordo::model::encodings
