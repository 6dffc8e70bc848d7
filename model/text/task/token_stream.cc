#include "model/text/task/token_stream.h"

#include <algorithm>

#include "base/check.h"
#include "base/status/status.h"

namespace ordo::model::text::task {

TokenStream::TokenStream(
    const std::vector<std::unique_ptr<store::TokenStore>>& stores, Split split,
    const store::HeldOut& held_out) {
  for (const auto& store : stores) {
    for (const auto& document : store->documents()) {
      if (split != Split::kAll && store::IsHeldOut(held_out, document.facts) !=
                                      (split == Split::kHeldOut)) {
        continue;
      }
      documents_.push_back({store.get(), document.begin,
                            document.facts.num_bytes,
                            document.facts.num_words});
      begins_.push_back(begins_.back() + document.num_tokens);
      num_bytes_ += document.facts.num_bytes;
      num_words_ += document.facts.num_words;
    }
  }
}

uint64_t TokenStream::DocumentAt(uint64_t token) const {
  return std::upper_bound(begins_.begin(), begins_.end(), token) -
         begins_.begin() - 1;
}

TextSize TokenStream::SizeOf(uint64_t begin, uint64_t count) const {
  ORDO_CHECK(begin <= num_tokens() && count <= num_tokens() - begin);
  TextSize size;
  const uint64_t end = begin + count;
  uint64_t i = DocumentAt(begin);
  for (uint64_t at = begin; at < end; at = begins_[++i]) {
    const uint64_t here = std::min(end, begins_[i + 1]) - at;
    const double share = static_cast<double>(here) /
                         static_cast<double>(begins_[i + 1] - begins_[i]);
    size.bytes += share * static_cast<double>(documents_[i].num_bytes);
    size.words += share * static_cast<double>(documents_[i].num_words);
  }
  return size;
}

absl::StatusOr<std::vector<int64_t>> TokenStream::Read(uint64_t begin,
                                                       uint64_t count) const {
  ORDO_CHECK(begin <= num_tokens() && count <= num_tokens() - begin);
  std::vector<int64_t> tokens;
  tokens.reserve(count);
  for (uint64_t i = DocumentAt(begin); tokens.size() < count; ++i) {
    const uint64_t at = begin + tokens.size();
    const uint64_t here = std::min(count - tokens.size(), begins_[i + 1] - at);
    ORDO_ASSIGN_OR_RETURN(const std::vector<int64_t> part,
                          documents_[i].store->Read(
                              documents_[i].begin + (at - begins_[i]), here));
    tokens.insert(tokens.end(), part.begin(), part.end());
  }
  return tokens;
}

}  // namespace ordo::model::text::task
