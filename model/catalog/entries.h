#ifndef ORDO_MODEL_CATALOG_ENTRIES_H_
#define ORDO_MODEL_CATALOG_ENTRIES_H_

#include <vector>

#include "model/catalog/catalog.h"

namespace ordo::model::catalog {

// The table itself, in no particular order.
std::vector<Entry> AllEntries();

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_ENTRIES_H_
