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

// Of two bytes side by side, as a place in a table.
size_t PairOfBytes(char left, char right) {
  return size_t{256} * static_cast<uint8_t>(left) + static_cast<uint8_t>(right);
}

// A pair of neighbours that may be joined. One whose parts have been joined
// with others since is told by its ids.
struct Candidate {
  uint32_t rank = 0;
  uint32_t place = 0;
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
    if (!merge.left.empty() && !merge.right.empty()) {
      bpe.spanned_.set(PairOfBytes(merge.left.back(), merge.right.front()));
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
  const auto num_ids = static_cast<uint32_t>(ids->size());
  std::vector<uint32_t> next(num_ids);
  std::vector<uint32_t> previous(num_ids);
  std::priority_queue<Candidate, std::vector<Candidate>, Later> candidates;
  const auto offer = [&](uint32_t place) {
    if (next[place] == num_ids) return;
    const int64_t left = (*ids)[place];
    const int64_t right = (*ids)[next[place]];
    if (const Rule* rule = Find(left, right)) {
      candidates.push({rule->rank, place, left, right});
    }
  };
  for (uint32_t i = 0; i < num_ids; ++i) {
    next[i] = i + 1;
    previous[i] = i - 1;
  }
  for (uint32_t i = 0; i < num_ids; ++i) offer(i);
  while (!candidates.empty()) {
    const Candidate candidate = candidates.top();
    candidates.pop();
    const uint32_t place = candidate.place;
    const uint32_t behind = next[place];
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
  for (size_t begin = 0; begin < piece.size();) {
    const size_t end = EndOfPart(piece, begin);
    ORDO_RETURN_IF_ERROR(EncodePart(piece.substr(begin, end - begin), &ids));
    tokens->insert(tokens->end(), ids.begin(), ids.end());
    begin = end;
  }
  return absl::OkStatus();
}

size_t Bpe::EndOfPart(std::string_view piece, size_t begin) const {
  size_t end = begin + 1;
  while (end < piece.size() &&
         spanned_.test(PairOfBytes(piece[end - 1], piece[end]))) {
    ++end;
  }
  return end;
}

absl::Status Bpe::EncodePart(std::string_view part,
                             std::vector<int64_t>* ids) const {
  if (part.size() > kMaxPartBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "encode text: ", part.size(), " bytes that begin with '",
        absl::CHexEscape(std::string(part.substr(0, 16))),
        "' may all become one token, and at most ", kMaxPartBytes,
        " are joined at once: break up its long runs without blanks or of "
        "blanks"));
  }
  ids->clear();
  for (const char byte : part) {
    const int64_t id = ids_of_bytes_[static_cast<uint8_t>(byte)];
    if (id == kNone) {
      return absl::InvalidArgumentError(
          absl::StrCat("encode text: the vocabulary has no token for byte 0x",
                       absl::Hex(static_cast<uint8_t>(byte), absl::kZeroPad2)));
    }
    ids->push_back(id);
  }
  if (ids->size() > 1) Join(ids);
  return absl::OkStatus();
}

}  // namespace ordo::model::text::tokenizers
