#ifndef ORDO_MODEL_TRAINING_TESTING_TINY_SPEC_H_
#define ORDO_MODEL_TRAINING_TESTING_TINY_SPEC_H_

#include <string>

#include "proto/ordo/training/v1/spec.pb.h"

namespace ordo::model::training::testing {

// A resolved specification of a run of some milliseconds per step: two layers
// of width 16 on addition of up to two digits, 20 steps, one evaluation of a
// 3 x 3 grid at the end. `encoding` is a name of the catalogue.
ordo::training::v1::TrainSpec TinySpec(const std::string& encoding);

}  // namespace ordo::model::training::testing

#endif  // ORDO_MODEL_TRAINING_TESTING_TINY_SPEC_H_
