#ifndef ORDO_MODEL_CATALOG_PATTERN_H_
#define ORDO_MODEL_CATALOG_PATTERN_H_

#include <vector>

#include "proto/ordo/training/v1/component.pb.h"

namespace ordo::model::catalog {

// Which of the encodings `with` a per_layer component acts in which layer.
struct Pattern {
  // Those that differ from each other, in the order of their first layer.
  // Point into the component.
  std::vector<const ordo::training::v1::Component*> members;
  // For each layer the number of its member.
  std::vector<int> member_of_layer;

  // Layers of a member, ascending.
  std::vector<int> LayersOf(int member) const;
};

// Layer l has the encoding number l mod n of the n that the component has
// `with` it, n >= 1. Equal ones, parameters included, are one member; so the
// component should be resolved. It outlives the result.
Pattern PatternOf(const ordo::training::v1::Component& component, int layers);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_PATTERN_H_
