#include "model/text/tokenizers/bpe.h"

#include <queue>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status/status.h"

namespace ordo::model::text::tokenizers {
namespace {

constexpr int64_t kNone = -1;

// A pair of neighbours that may be joined. One whose parts have been joined
// with others since is told by its ids.
struct Candidate {
  uint32_t rank = 0;
  size_t place = 0;
  int64_t left = 0;
  int64_t right = 0;
};

struct Later {
  bool operator()(const Candidate& a, const Candidate& b) const {
    return std::tie(a.rank, a.place) > std::tie(b.rank, b.place);
  }
};

}  // namespace

size_t Bpe::PairHash::operator()(const Pair& pair) const {
  // Ids are small: both halves of the product depend on both.
  const auto key = (static_cast<uint64_t>(pair.left) << 32) ^
                   static_cast<uint64_t>(pair.right);
  const uint64_t product = key * 0x9E3779B97F4A7C15u;
  return product ^ (product >> 32);
}

absl::StatusOr<Bpe> Bpe::Create(const BpeTable& table) {
  Bpe bpe;
  bpe.ids_of_bytes_.fill(kNone);
  std::unordered_map<std::string, int64_t> ids;
  for (size_t i = 0; i < table.tokens.size(); ++i) {
    const BpeTable::Token& token = table.tokens[i];
    if (!ids.emplace(token.bytes, token.id).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("token ", i, " ('", absl::CHexEscape(token.bytes),
                       "') is there twice"));
    }
    if (token.bytes.size() == 1) {
      bpe.ids_of_bytes_[static_cast<uint8_t>(token.bytes[0])] = token.id;
    }
  }
  for (size_t i = 0; i < table.merges.size(); ++i) {
    const BpeTable::Merge& merge = table.merges[i];
    std::array<int64_t, 3> parts = {};
    const std::array<std::string, 3> names = {merge.left, merge.right,
                                              merge.left + merge.right};
    for (size_t k = 0; k < names.size(); ++k) {
      const auto found = ids.find(names[k]);
      if (found == ids.end()) {
        return absl::InvalidArgumentError(
            absl::StrCat("merge ", i, ": '", absl::CHexEscape(names[k]),
                         "' is not in the vocabulary"));
      }
      parts[k] = found->second;
    }
    const Rule rule = {static_cast<uint32_t>(i), parts[2]};
    if (!bpe.rules_.emplace(Pair{parts[0], parts[1]}, rule).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("merge ", i, " is there twice"));
    }
  }
  if (table.ignore_merges) bpe.whole_ = std::move(ids);
  return bpe;
}

const Bpe::Rule* Bpe::Find(int64_t left, int64_t right) const {
  const auto found = rules_.find({left, right});
  return found == rules_.end() ? nullptr : &found->second;
}

// The ids as a list with links; what is joined stays at the left one's place.
void Bpe::Join(std::vector<int64_t>* ids) const {
  const size_t num_ids = ids->size();
  std::vector<size_t> next(num_ids);
  std::vector<size_t> previous(num_ids);
  std::priority_queue<Candidate, std::vector<Candidate>, Later> candidates;
  const auto offer = [&](size_t place) {
    if (next[place] == num_ids) return;
    const int64_t left = (*ids)[place];
    const int64_t right = (*ids)[next[place]];
    if (const Rule* rule = Find(left, right)) {
      candidates.push({rule->rank, place, left, right});
    }
  };
  for (size_t i = 0; i < num_ids; ++i) {
    next[i] = i + 1;
    previous[i] = i - 1;
  }
  for (size_t i = 0; i < num_ids; ++i) offer(i);
  while (!candidates.empty()) {
    const Candidate candidate = candidates.top();
    candidates.pop();
    const size_t place = candidate.place;
    const size_t behind = next[place];
    if ((*ids)[place] != candidate.left || behind == num_ids ||
        (*ids)[behind] != candidate.right) {
      continue;
    }
    (*ids)[place] = Find(candidate.left, candidate.right)->joined;
    (*ids)[behind] = kNone;
    next[place] = next[behind];
    if (next[place] != num_ids) previous[next[place]] = place;
    offer(place);
    if (place > 0) offer(previous[place]);
  }
  size_t kept = 0;
  for (size_t i = 0; i < num_ids; i = next[i]) (*ids)[kept++] = (*ids)[i];
  ids->resize(kept);
}

absl::Status Bpe::Encode(std::string_view piece,
                         std::vector<int64_t>* tokens) const {
  if (!whole_.empty()) {
    const auto found = whole_.find(std::string(piece));
    if (found != whole_.end()) {
      tokens->push_back(found->second);
      return absl::OkStatus();
    }
  }
  std::vector<int64_t> ids;
  ids.reserve(piece.size());
  for (const char byte : piece) {
    const int64_t id = ids_of_bytes_[static_cast<uint8_t>(byte)];
    if (id == kNone) {
      return absl::InvalidArgumentError(
          absl::StrCat("encode text: the vocabulary has no token for byte 0x",
                       absl::Hex(static_cast<uint8_t>(byte), absl::kZeroPad2)));
    }
    ids.push_back(id);
  }
  if (ids.size() > 1) Join(&ids);
  tokens->insert(tokens->end(), ids.begin(), ids.end());
  return absl::OkStatus();
}

}  // namespace ordo::model::text::tokenizers
