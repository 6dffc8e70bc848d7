#include "model/text/task/text_task.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status/status.h"
#include "model/text/rows/text_rows.h"

namespace ordo::model::text::task {
namespace {

class TextTask : public tasks::TrainingTask {
 public:
  TextTask(std::unique_ptr<tokenizers::TextTokenizer> tokenizer,
           std::vector<std::unique_ptr<store::TokenStore>> stores,
           rows::TextRows rows, int row_length)
      : tokenizer_(std::move(tokenizer)),
        stores_(std::move(stores)),
        rows_(std::move(rows)),
        row_length_(row_length),
        fingerprint_(FingerprintOf(stores_)) {}

  const tasks::Tokenizer& tokenizer() const override { return *tokenizer_; }
  int row_length() const override { return row_length_; }
  std::string data_fingerprint() const override { return fingerprint_; }

  absl::StatusOr<tasks::Sample> Generate(uint64_t seed,
                                         uint64_t index) const override {
    auto row = rows_.Read(seed, index);
    ORDO_RETURN_IF_ERROR(tasks::DataMissing(row.status()));
    tasks::Sample sample;
    sample.tokens = std::move(row->tokens);
    sample.scored = std::move(row->scored);
    sample.starts = std::move(row->starts);
    return sample;
  }

 private:
  const std::unique_ptr<tokenizers::TextTokenizer> tokenizer_;
  const std::vector<std::unique_ptr<store::TokenStore>> stores_;
  const rows::TextRows rows_;
  const int row_length_;
  const std::string fingerprint_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<tasks::TrainingTask>> OpenTextTask(
    const tasks::DataAccess& access, const TextTaskOptions& options) {
  const TextOptions& text = options.text;
  ORDO_ASSIGN_OR_RETURN(
      auto tokenizer,
      OpenTokenizer(access, text.field + ".tokenizer", text.tokenizer));
  ORDO_ASSIGN_OR_RETURN(auto stores, OpenTokenData(access, text, *tokenizer));
  std::vector<rows::WeightedStore> weighted;
  for (size_t i = 0; i < stores.size(); ++i) {
    const double weight = options.weights.empty()
                              ? static_cast<double>(stores[i]->num_tokens())
                              : options.weights[i];
    weighted.push_back({text.data[i], weight, stores[i].get()});
  }
  ORDO_ASSIGN_OR_RETURN(
      rows::TextRows rows,
      base::AddContext(
          rows::TextRows::Create(weighted, options.packing, options.held_out),
          absl::StrCat(text.field, ".data (sources) in rows of ",
                       options.packing.row_length, " tokens")));
  return std::make_unique<TextTask>(std::move(tokenizer), std::move(stores),
                                    std::move(rows),
                                    options.packing.row_length);
}

}  // namespace ordo::model::text::task
