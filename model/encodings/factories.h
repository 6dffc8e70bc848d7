#ifndef ORDO_MODEL_ENCODINGS_FACTORIES_H_
#define ORDO_MODEL_ENCODINGS_FACTORIES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "model/encodings/encoding.h"
#include "model/parameters/parameters.h"
#include "proto/ordo/training/v1/component.pb.h"

// The factories behind the registry's rows; each is defined in <name>.cc.

namespace ordo::model::encodings {

absl::StatusOr<std::unique_ptr<Encoding>> MakeAbacus(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeAlibi(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeAxial(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeCope(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeDaTransformer(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeDeberta(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeFire(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeGridLearned(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeGridSinusoidal(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeHuang1(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeHuang2(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeHuang3(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeHuang4(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeKerpleLog(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeKerplePower(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeLeakyReRope(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeLearned(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeLiere(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeNone(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakePerLayer(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeRandomLearned(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeRandomPositions(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeRandomRope(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeRandomSinusoidal(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeReRope(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeRope(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeRope2d(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeRopeBias(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeRopeByLength(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeSandwich(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeShaw(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeSinusoidal(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeT5(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeTape(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeTener(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeTransformerXl(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeWindowBias2d(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);
absl::StatusOr<std::unique_ptr<Encoding>> MakeXpos(
    const ordo::training::v1::Component& component, const ModelShape& shape,
    parameters::ParameterSet* parameters);

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_FACTORIES_H_
