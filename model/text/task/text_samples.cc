#include "model/text/task/text_samples.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"

namespace ordo::model::text::task {
namespace {

struct Piece {
  uint64_t document = 0;
  // Number in the stream of its first token.
  uint64_t begin = 0;
  uint64_t length = 0;
};

// Of one document after the other.
std::vector<Piece> PiecesOf(const TokenStream& stream,
                            const TextSamplesOptions& options) {
  const auto most = static_cast<uint64_t>(options.max_length);
  const auto least = static_cast<uint64_t>(options.min_length);
  std::vector<Piece> pieces;
  for (uint64_t i = 0; i < stream.num_documents(); ++i) {
    const uint64_t end = stream.DocumentBegin(i + 1);
    for (uint64_t begin = stream.DocumentBegin(i); begin < end;) {
      const uint64_t length = std::min(most, end - begin);
      if (length >= least) pieces.push_back({i, begin, length});
      begin += length;
    }
  }
  return pieces;
}

// At most `count` of them, evenly.
std::vector<Piece> Evenly(const std::vector<Piece>& all, size_t count) {
  if (all.size() <= count) return all;
  std::vector<Piece> some;
  for (size_t i = 0; i < count; ++i) {
    some.push_back(all[i * all.size() / count]);
  }
  return some;
}

class TextSamples : public tasks::inside::Rows {
 public:
  TextSamples(const TextSamplesOptions& options,
              std::unique_ptr<tokenizers::TextTokenizer> tokenizer,
              std::vector<std::unique_ptr<store::TokenStore>> stores)
      : tokenizer_(std::move(tokenizer)),
        stores_(std::move(stores)),
        fingerprint_(FingerprintOf(stores_)),
        stream_(stores_, options.split, options.held_out),
        pieces_(Evenly(PiecesOf(stream_, options),
                       static_cast<size_t>(options.samples))) {}

  const tasks::Tokenizer& tokenizer() const override { return *tokenizer_; }
  int64_t size() const override { return static_cast<int64_t>(pieces_.size()); }
  int max_length() const override {
    uint64_t longest = 0;
    for (const Piece& piece : pieces_) {
      longest = std::max(longest, piece.length);
    }
    return static_cast<int>(longest);
  }

  absl::StatusOr<std::vector<int64_t>> Get(uint64_t /*seed*/,
                                           int64_t index) const override {
    const Piece& piece = pieces_[static_cast<size_t>(index)];
    auto tokens = stream_.Read(piece.begin, piece.length);
    ORDO_RETURN_IF_ERROR(tasks::DataMissing(tokens.status()));
    return tokens;
  }

  std::string Id(uint64_t /*seed*/, int64_t index) const override {
    const Piece& piece = pieces_[static_cast<size_t>(index)];
    return absl::StrCat(piece.document, "-",
                        piece.begin - stream_.DocumentBegin(piece.document));
  }
  std::optional<int64_t> begin_token() const override {
    return tokenizer_->begin_token();
  }
  std::string data_fingerprint() const override { return fingerprint_; }

 private:
  const std::unique_ptr<tokenizers::TextTokenizer> tokenizer_;
  const std::vector<std::unique_ptr<store::TokenStore>> stores_;
  const std::string fingerprint_;
  const TokenStream stream_;
  const std::vector<Piece> pieces_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<tasks::inside::Rows>> OpenTextSamples(
    const tasks::DataAccess& access, const TextSamplesOptions& options) {
  ORDO_ASSIGN_OR_RETURN(auto tokenizer,
                        OpenTokenizer(access, options.text.field + ".tokenizer",
                                      options.text.tokenizer));
  ORDO_ASSIGN_OR_RETURN(auto stores,
                        OpenTokenData(access, options.text, *tokenizer));
  auto samples = std::make_unique<TextSamples>(options, std::move(tokenizer),
                                               std::move(stores));
  if (samples->size() == 0) {
    return base::InvalidField(
        options.text.field + ".min_length",
        absl::StrCat("no document of the split has ", options.min_length,
                     " tokens; lower it, or give more text, or split: all"));
  }
  return samples;
}

}  // namespace ordo::model::text::task
