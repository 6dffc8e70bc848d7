// A store of tokens whose digests are right, as a stranger may make it: it is
// refused with DATA_LOSS, or its documents are all of its tokens, and rows of
// them are read or refused likewise. The input: number of tokens and of
// documents that the index says and size of the vocabulary, each as 64 bits,
// little-endian; a byte with the number of records; these; tokens. It is read
// as the text of an index too.
#include "model/text/store/token_store.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/check.h"
#include "base/digest/digest.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "model/text/rows/packing.h"
#include "model/text/store/index.h"

namespace ordo::tests::fuzz {
namespace {

namespace store = model::text::store;
namespace rows = model::text::rows;

constexpr size_t kHeadBytes = 25;

uint64_t NumberAt(const std::string& bytes, size_t at) {
  uint64_t number = 0;
  for (size_t i = 0; i < 8; ++i) {
    number |= uint64_t{static_cast<uint8_t>(bytes[at + i])} << (8 * i);
  }
  return number;
}

void CheckDamage(const absl::Status& status) {
  ORDO_CHECK(status.ok() || absl::IsDataLoss(status)) << status;
}

void CheckRows(const store::TokenStore& tokens) {
  rows::PackingOptions options;
  options.row_length = 4;
  options.separate_documents = true;
  const auto packing = rows::Packing::Create(
      &tokens, rows::DocumentsOf(tokens, {}, false), options);
  ORDO_CHECK(packing.ok()) << packing.status();
  for (uint64_t row = 0; row < packing->num_rows(); ++row) {
    const auto read = packing->Read(row);
    CheckDamage(read.status());
    ORDO_CHECK(!read.ok() || read->tokens.size() == 4);
  }
}

void CheckIndex(const std::string& text) {
  const auto index = store::ParseIndex(text);
  CheckDamage(index.status());
  if (!index.ok()) return;
  const auto again = store::ParseIndex(store::IndexText(*index));
  ORDO_CHECK(again.ok()) << again.status();
  ORDO_CHECK(store::IndexText(*again) == store::IndexText(*index));
}

void CheckStore(const std::string& input) {
  if (input.size() < kHeadBytes) return;
  const size_t num_bytes =
      store::kRecordBytes * static_cast<uint8_t>(input[kHeadBytes - 1]);
  const std::string records = input.substr(kHeadBytes, num_bytes);
  const std::string tokens = input.substr(kHeadBytes + records.size());
  store::StoreIndex index;
  index.vocabulary_size = static_cast<int64_t>(NumberAt(input, 16));
  index.type = model::text::source::TypeForVocabulary(index.vocabulary_size);
  index.shards = {{NumberAt(input, 0), NumberAt(input, 8),
                   base::Sha256Hex(tokens), base::Sha256Hex(records)}};
  static base::PosixFilesystem& files = *new base::PosixFilesystem;
  static const auto& folder = *new base::testing::TemporaryFolder;
  for (const auto& [name, bytes] :
       {std::make_pair(store::TokensName(0), tokens),
        std::make_pair(store::DocumentsName(0), records),
        std::make_pair(std::string(store::kIndexName),
                       store::IndexText(index))}) {
    ORDO_CHECK(base::ReplaceFile(files, folder.Path(name), bytes).ok());
  }
  const auto opened = store::TokenStore::Open(files, folder.path());
  CheckDamage(opened.status());
  if (!opened.ok()) return;
  uint64_t end = 0;
  for (const auto& document : (*opened)->documents()) {
    ORDO_CHECK(document.begin == end && document.num_tokens > 0);
    end += document.num_tokens;
  }
  ORDO_CHECK(end == (*opened)->num_tokens());
  CheckDamage((*opened)->Read(0, end).status());
  ORDO_CHECK((*opened)->Verify().ok());
  CheckRows(**opened);
}

}  // namespace
}  // namespace ordo::tests::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  ordo::tests::fuzz::CheckIndex(input);
  ordo::tests::fuzz::CheckStore(input);
  return 0;
}
