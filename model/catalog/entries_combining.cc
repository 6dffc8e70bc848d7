#include "model/catalog/entries.h"

// No encoding, and those made of others.

namespace ordo::model::catalog {
namespace {

Entry None() {
  Entry entry = EncodingEntry(
      "none", "No positional encoding: nothing but the causal mask.",
      "Kazemnejad et al. 2023, arXiv:2305.19466");
  entry.encoding.formula = "s_ij = q_i . k_j / sqrt(d)";
  entry.encoding.beyond = "defined";
  return entry;
}

}  // namespace

std::vector<Entry> CombiningEntries() { return {None()}; }

}  // namespace ordo::model::catalog
