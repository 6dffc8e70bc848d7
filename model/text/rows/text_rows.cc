#include "model/text/rows/text_rows.h"

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"

namespace ordo::model::text::rows {

absl::StatusOr<TextRows> TextRows::Create(
    const std::vector<WeightedStore>& stores, const PackingOptions& packing,
    const store::HeldOut& held_out) {
  std::vector<Packing> packings;
  std::vector<Source> sources;
  for (size_t i = 0; i < stores.size(); ++i) {
    const store::TokenStore& store = *stores[i].store;
    const std::string& first = stores[0].store->index().tokenizer_sha256;
    if (store.index().tokenizer_sha256 != first) {
      return base::InvalidField(
          absl::StrCat("sources[", i, "]"),
          absl::StrCat("is of the tokenizer with SHA-256 ",
                       store.index().tokenizer_sha256, ", sources[0] of ",
                       first, ": make one of them again"));
    }
    ORDO_ASSIGN_OR_RETURN(
        Packing packed,
        Packing::Create(&store, DocumentsOf(store, held_out, false), packing));
    sources.push_back({stores[i].name, stores[i].weight, packed.num_rows()});
    packings.push_back(std::move(packed));
  }
  ORDO_ASSIGN_OR_RETURN(Mixture mixture, Mixture::Create(sources));
  return TextRows(std::move(packings), std::move(mixture));
}

absl::StatusOr<PackedRow> TextRows::Read(uint64_t seed, uint64_t index) const {
  const Mixture::Place place = mixture_.Find(seed, index);
  return packings_[place.source].Read(place.row);
}

}  // namespace ordo::model::text::rows
