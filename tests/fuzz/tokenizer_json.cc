// A tokenizer.json: it is refused, or its tokenizer encodes text to ids of its
// vocabulary or says why not, and decodes them.
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "base/check.h"
#include "model/text/source/utf8.h"
#include "model/text/tokenizers/bpe_tokenizer.h"

namespace ordo::tests::fuzz {
namespace {

namespace tokenizers = model::text::tokenizers;

constexpr const char* kTexts[] = {
    "", "hello  world's\n\n 12345<|endoftext|>",
    "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xC2\xA0\xE1\xA0\x8E\t",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"};

void Check(const std::string& file, bool match_special) {
  tokenizers::BpeTokenizerOptions options;
  options.match_special = match_special;
  const auto tokenizer = tokenizers::ParseBpeTokenizer(file, options);
  if (!tokenizer.ok()) {
    ORDO_CHECK(absl::IsInvalidArgument(tokenizer.status()))
        << tokenizer.status();
    return;
  }
  for (const char* text : kTexts) {
    const auto tokens = (*tokenizer)->Encode(text);
    if (!tokens.ok()) {
      ORDO_CHECK(absl::IsInvalidArgument(tokens.status())) << tokens.status();
      continue;
    }
    for (const int64_t token : *tokens) {
      ORDO_CHECK(token >= 0 && token < (*tokenizer)->vocabulary_size());
    }
    const std::string decoded = (*tokenizer)->Decode(*tokens);
    ORDO_CHECK(!model::text::source::FirstInvalidUtf8(decoded).has_value());
  }
}

}  // namespace
}  // namespace ordo::tests::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string file(reinterpret_cast<const char*>(data), size);
  ordo::tests::fuzz::Check(file, /*match_special=*/false);
  ordo::tests::fuzz::Check(file, /*match_special=*/true);
  return 0;
}
