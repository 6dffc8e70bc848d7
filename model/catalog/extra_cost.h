#ifndef ORDO_MODEL_CATALOG_EXTRA_COST_H_
#define ORDO_MODEL_CATALOG_EXTRA_COST_H_

#include <cstdint>

#include "model/catalog/catalog.h"

// What an encoding's row counts its cost (EncodingTraits::count_cost) with.
//
// Operations on single values count one each: an addition, a product, a root,
// an exponential, a sine, an activation. Not counted are comparisons, tables'
// look-ups, sums of whole position ids and what depends on parameters alone.
// What all layers share is counted before the first.

namespace ordo::model::catalog {

// A layer's sizes, by the letters of the formulas.
struct CostSizes {
  int64_t n = 0;  // tokens
  int64_t p = 0;  // pairs
  int64_t h = 0;  // heads
  int64_t g = 0;  // key heads
  int64_t d = 0;  // channels of a head
  int64_t c = 0;  // channels of the model
};
CostSizes SizesOf(const ModelShape& shape, const CostQuery& query);

// `flops` of single values, which table 3 of the TAPE paper leaves out.
ExtraCost Counted(const CostQuery& query, int64_t macs, int64_t flops);

ExtraCost Sum(const ExtraCost& a, const ExtraCost& b);

// Of an encoding that adds no work.
ExtraCost CostOfNothing(const ordo::training::v1::Component& component,
                        const ModelShape& shape, const CostQuery& query);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_EXTRA_COST_H_
