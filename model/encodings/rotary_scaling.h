#ifndef ORDO_MODEL_ENCODINGS_ROTARY_SCALING_H_
#define ORDO_MODEL_ENCODINGS_ROTARY_SCALING_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proto/ordo/training/v1/component.pb.h"

// What each encoding of the rotary family turns pairs of channels by, as a
// function of its parameters and of the number of tokens: in double, without
// tensors. Legend: R channels turn, f counts pairs from 0, theta_f =
// base^(-2f/R), L trained length, n number of tokens, s scale factor.

namespace ordo::model::encodings {

struct Rotation {
  // Angle per position of each of the R/2 pairs, in radians.
  std::vector<double> frequencies;
  // Turned channels of q and of k are multiplied by it, so their share of the
  // logits by its square.
  double attention_factor = 1.0;
};

// Names of the encodings that RotationOf knows, sorted.
std::vector<std::string> RotationNames();

// Whether RotationOf depends on the number of tokens.
bool RotatesByLength(std::string_view name);

// base^(-2f/R) for f = 0 .. R/2 - 1.
std::vector<double> GeometricFrequencies(double base, int64_t channels);

// The rotation of a component that the catalogue has resolved and found to fit
// R = `channels`, in a row of n = `length` tokens (largest position id + 1).
// The name is one of RotationNames().
Rotation RotationOf(const ordo::training::v1::Component& component,
                    int64_t channels, int64_t length);

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_ROTARY_SCALING_H_
