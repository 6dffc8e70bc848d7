#include "model/catalog/pattern.h"

#include <algorithm>

#include "google/protobuf/util/message_differencer.h"

namespace ordo::model::catalog {

using ::google::protobuf::util::MessageDifferencer;
using ::ordo::training::v1::Component;

std::vector<int> Pattern::LayersOf(int member) const {
  std::vector<int> layers;
  for (int layer = 0; layer < static_cast<int>(member_of_layer.size());
       ++layer) {
    if (member_of_layer[layer] == member) layers.push_back(layer);
  }
  return layers;
}

Pattern PatternOf(const Component& component, int layers) {
  Pattern pattern;
  for (int layer = 0; layer < layers; ++layer) {
    const Component& own = component.with(layer % component.with_size());
    auto known = std::find_if(pattern.members.begin(), pattern.members.end(),
                              [&](const Component* member) {
                                return MessageDifferencer::Equals(*member, own);
                              });
    if (known == pattern.members.end()) {
      known = pattern.members.insert(known, &own);
    }
    pattern.member_of_layer.push_back(
        static_cast<int>(known - pattern.members.begin()));
  }
  return pattern;
}

}  // namespace ordo::model::catalog
