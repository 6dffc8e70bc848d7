#include "model/catalog/extra_cost.h"

namespace ordo::model::catalog {

CostSizes SizesOf(const ModelShape& shape, const CostQuery& query) {
  return {query.tokens,          query.pairs,        shape.heads,
          shape.num_key_heads(), shape.head_width(), shape.width};
}

ExtraCost Counted(const CostQuery& query, int64_t macs, int64_t flops) {
  return {macs, query.convention == CostConvention::kModel ? flops : 0, 0};
}

ExtraCost Sum(const ExtraCost& a, const ExtraCost& b) {
  return {a.macs + b.macs, a.flops + b.flops, a.state + b.state};
}

ExtraCost CostOfNothing(const ordo::training::v1::Component& /*component*/,
                        const ModelShape& /*shape*/,
                        const CostQuery& /*query*/) {
  return {};
}

}  // namespace ordo::model::catalog
