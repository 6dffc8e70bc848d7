#include "model/text/rows/packing.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "base/status/details.h"
#include "base/status/status.h"

namespace ordo::model::text::rows {
namespace {

// The last of the rising `begins` that is `value` or less.
size_t LastAtOrBefore(const std::vector<uint64_t>& begins, uint64_t value) {
  return std::upper_bound(begins.begin(), begins.end(), value) -
         begins.begin() - 1;
}

}  // namespace

absl::StatusOr<Packing> Packing::Create(const store::TokenStore* store,
                                        const std::vector<uint64_t>& documents,
                                        const PackingOptions& options) {
  if (options.row_length < 2) {
    return base::InvalidField("row_length", "must be 2 or more");
  }
  Packing packing(store, options);
  packing.Add(documents);
  return packing;
}

void Packing::Add(const std::vector<uint64_t>& documents) {
  const uint64_t per_group = options_.documents_per_group;
  documents_ = documents;
  uint64_t group_begin = 0;
  for (size_t i = 0; i < documents.size(); ++i) {
    ORDO_CHECK(documents[i] < store_->documents().size());
    begins_.push_back(begins_.back() +
                      store_->documents()[documents[i]].num_tokens);
    const bool ends_group = i + 1 == documents.size() ||
                            (per_group > 0 && (i + 1) % per_group == 0);
    if (!ends_group) continue;
    const uint64_t rows = (begins_.back() - group_begin) /
                          static_cast<uint64_t>(options_.row_length);
    group_rows_.push_back(group_rows_.back() + rows);
    group_documents_.push_back(i + 1);
    group_begin = begins_.back();
  }
}

absl::StatusOr<PackedRow> Packing::Read(uint64_t row) const {
  ORDO_CHECK(row < num_rows());
  const auto length = static_cast<uint64_t>(options_.row_length);
  const size_t group = LastAtOrBefore(group_rows_, row);
  const uint64_t begin =
      begins_[group_documents_[group]] + (row - group_rows_[group]) * length;
  PackedRow packed;
  packed.tokens.reserve(length);
  packed.scored.assign(length, 1);
  packed.scored[0] = 0;
  if (options_.separate_documents) packed.starts.push_back(0);
  // Documents have a token at least: each round adds some.
  for (size_t i = LastAtOrBefore(begins_, begin); packed.tokens.size() < length;
       ++i) {
    const uint64_t place = packed.tokens.size();
    const uint64_t at = begin + place;
    const uint64_t count = std::min(length - place, begins_[i + 1] - at);
    if (options_.separate_documents && place > 0) {
      packed.starts.push_back(static_cast<int>(place));
      packed.scored[place] = 0;
    }
    const auto& document = store_->documents()[documents_[i]];
    ORDO_ASSIGN_OR_RETURN(
        const std::vector<int64_t> tokens,
        store_->Read(document.begin + (at - begins_[i]), count));
    packed.tokens.insert(packed.tokens.end(), tokens.begin(), tokens.end());
  }
  return packed;
}

std::vector<uint64_t> DocumentsOf(const store::TokenStore& store,
                                  const store::HeldOut& held_out,
                                  bool are_held_out) {
  std::vector<uint64_t> documents;
  for (size_t i = 0; i < store.documents().size(); ++i) {
    if (store::IsHeldOut(held_out, store.documents()[i].facts) ==
        are_held_out) {
      documents.push_back(i);
    }
  }
  return documents;
}

}  // namespace ordo::model::text::rows
