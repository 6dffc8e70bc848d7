#ifndef ORDO_MODEL_TEXT_TOKENIZERS_BPE_H_
#define ORDO_MODEL_TEXT_TOKENIZERS_BPE_H_

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ordo::model::text::tokenizers {

// A vocabulary over bytes, and which neighbours are joined first.
struct BpeTable {
  struct Token {
    std::string bytes;
    int64_t id = 0;
  };
  // Each bytes once.
  std::vector<Token> tokens;
  struct Merge {
    std::string left;
    std::string right;
  };
  // The first is joined first. Both parts and what they make are tokens.
  std::vector<Merge> merges;
  // A piece that is a token becomes that one at once, whatever the merges.
  bool ignore_merges = false;
};

// Of a part of a piece that no merge spans the ends of. Joining takes some 100
// bytes of memory for each.
inline constexpr size_t kMaxPartBytes = size_t{4} << 20;

// Byte pair encoding: a piece begins as its bytes; again and again the pair of
// neighbours that stands first among the merges, the leftmost of equals, is
// joined. Immutable, thread-safe.
class Bpe {
 public:
  // INVALID_ARGUMENT: a part of a merge is no token, or a pair or token stands
  // there twice (the message has the number, from 0).
  static absl::StatusOr<Bpe> Create(const BpeTable& table);

  // Appends the tokens of `piece`, in n log n steps of its n bytes.
  // INVALID_ARGUMENT: there is no token for one of its bytes, or more than
  // kMaxPartBytes side by side may be joined.
  absl::Status Encode(std::string_view piece,
                      std::vector<int64_t>* tokens) const;

 private:
  struct Rule {
    uint32_t rank = 0;
    int64_t joined = 0;
  };
  struct Pair {
    int64_t left = 0;
    int64_t right = 0;
    bool operator==(const Pair& other) const {
      return left == other.left && right == other.right;
    }
  };
  struct PairHash {
    size_t operator()(const Pair& pair) const;
  };

  Bpe() = default;
  // Or nothing.
  const Rule* Find(int64_t left, int64_t right) const;
  void Join(std::vector<int64_t>* ids) const;
  // `ids` becomes the tokens of a part of a piece.
  absl::Status EncodePart(std::string_view part,
                          std::vector<int64_t>* ids) const;
  // Where the part of `piece` ends that begins at `begin`.
  size_t EndOfPart(std::string_view piece, size_t begin) const;

  std::unordered_map<Pair, Rule, PairHash> rules_;
  // Of each byte; -1: there is none.
  std::array<int64_t, 256> ids_of_bytes_ = {};
  // Whether some merge joins a token that ends with a byte and one that begins
  // with another: 256 * the one + the other.
  std::bitset<256 * 256> spanned_;
  // With ignore_merges only.
  std::unordered_map<std::string, int64_t> whole_;
};

}  // namespace ordo::model::text::tokenizers

#endif  // ORDO_MODEL_TEXT_TOKENIZERS_BPE_H_
