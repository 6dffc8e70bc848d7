#ifndef ORDO_MODEL_TEXT_ROWS_PACKING_H_
#define ORDO_MODEL_TEXT_ROWS_PACKING_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "model/text/store/token_store.h"

namespace ordo::model::text::rows {

struct PackingOptions {
  // Tokens of a row, 2 and more.
  int row_length = 0;
  // Whether a document sees nothing of those before it in its row.
  bool separate_documents = false;
  // Documents whose tokens are cut into rows together; what is left of them at
  // the end is left out. 0: all.
  uint64_t documents_per_group = 0;
};

// A row of row_length tokens.
struct PackedRow {
  std::vector<int64_t> tokens;
  // Whether what is said at each place, from the tokens before, counts in the
  // loss: all but the first, and with separate_documents the first of each
  // document.
  std::vector<uint8_t> scored;
  // With separate_documents: the places at which documents begin, rising, from
  // 0 on. Attention must not look past them. Otherwise empty.
  std::vector<int> starts;
};

// Documents of a store, one behind the other, cut into rows. Immutable,
// thread-safe; 16 bytes a document are in memory.
class Packing {
 public:
  // `documents` are indices into store->documents(), in the order in which they
  // are packed; `store` outlives the packing. INVALID_ARGUMENT, with the field:
  // an option is out of bounds.
  static absl::StatusOr<Packing> Create(const store::TokenStore* store,
                                        const std::vector<uint64_t>& documents,
                                        const PackingOptions& options);

  uint64_t num_rows() const { return group_rows_.back(); }

  // Row `row`, below num_rows(). Errors are those of TokenStore::Read.
  absl::StatusOr<PackedRow> Read(uint64_t row) const;

 private:
  Packing(const store::TokenStore* store, const PackingOptions& options)
      : store_(store), options_(options) {}

  void Add(const std::vector<uint64_t>& documents);

  const store::TokenStore* store_;
  PackingOptions options_;
  // The documents, and the tokens before each and before the end.
  std::vector<uint64_t> documents_;
  std::vector<uint64_t> begins_ = {0};
  // Of each group, and of the end: the rows and the documents before it.
  std::vector<uint64_t> group_rows_ = {0};
  std::vector<uint64_t> group_documents_ = {0};
};

// The documents of a store that are held out, or those that are not, as indices
// in rising order.
std::vector<uint64_t> DocumentsOf(const store::TokenStore& store,
                                  const store::HeldOut& held_out,
                                  bool are_held_out);

}  // namespace ordo::model::text::rows

#endif  // ORDO_MODEL_TEXT_ROWS_PACKING_H_
