#ifndef ORDO_MODEL_CATALOG_ENTRIES_H_
#define ORDO_MODEL_CATALOG_ENTRIES_H_

#include <vector>

#include "model/catalog/catalog.h"

namespace ordo::model::catalog {

// Channels of a head, the first ones, that rope turns; even where the encoding
// is valid. `params` are rope's, resolved.
int TurningChannels(const ParamMap& params, int head_width);

// The table itself, in no particular order.
std::vector<Entry> AllEntries();

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_ENTRIES_H_
