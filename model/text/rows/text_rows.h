#ifndef ORDO_MODEL_TEXT_ROWS_TEXT_ROWS_H_
#define ORDO_MODEL_TEXT_ROWS_TEXT_ROWS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "model/text/rows/mixture.h"
#include "model/text/rows/packing.h"
#include "model/text/store/facts.h"
#include "model/text/store/token_store.h"

namespace ordo::model::text::rows {

// A store that is trained on, and its weight beside the others.
struct WeightedStore {
  std::string name;
  double weight = 1;
  // Outlives the rows.
  const store::TokenStore* store = nullptr;
};

// An endless stream of training rows from stores: what is not held out, packed
// and mixed. Row `index` of a seed is a pure function of both, however often
// and in whatever order rows are read. Immutable, thread-safe.
class TextRows {
 public:
  // INVALID_ARGUMENT, with the field: as Packing and Mixture, or the stores are
  // not of one tokenizer.
  static absl::StatusOr<TextRows> Create(
      const std::vector<WeightedStore>& stores, const PackingOptions& packing,
      const store::HeldOut& held_out);

  // Errors are those of TokenStore::Read.
  absl::StatusOr<PackedRow> Read(uint64_t seed, uint64_t index) const;

 private:
  TextRows(std::vector<Packing> packings, Mixture mixture)
      : packings_(std::move(packings)), mixture_(std::move(mixture)) {}

  std::vector<Packing> packings_;
  Mixture mixture_;
};

}  // namespace ordo::model::text::rows

#endif  // ORDO_MODEL_TEXT_ROWS_TEXT_ROWS_H_
