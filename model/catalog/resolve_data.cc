#include "model/catalog/resolve_data.h"

#include "absl/strings/str_cat.h"
#include "model/catalog/lengths.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;

}  // namespace

const Entry* ResolveData(std::string_view field, v1::Data* data,
                         Violations* violations) {
  if (!data->has_seed()) data->set_seed(1);
  const Entry* entry = ResolveName(
      Kind::kTrainingTask, FieldPath(field, "task"), data->task(), violations);
  if (entry != nullptr) {
    ResolveParams(*entry, field, data->mutable_params(), violations);
  }
  return entry;
}

int VocabularyIfKnown(const Entry* task, bool valid, const ParamMap& params) {
  if (task == nullptr) return 0;
  if (task->vocabulary_of == nullptr) return task->vocabulary_size;
  return valid ? VocabularyOf(*task, params) : 0;
}

RowLengths RowLengthOf(const Entry& task, const ParamMap& params,
                       int64_t limit) {
  if (task.row_length == nullptr || limit == 0) return {};
  return {LongestRow(task, params), limit};
}

void RefuseLongRows(const std::string& field, const RowLengths& lengths,
                    Violations* violations) {
  if (lengths.tokens <= lengths.limit) return;
  violations->push_back(
      {field,
       absl::StrCat("rows have up to ", lengths.tokens,
                    " tokens, the encoding has room for ", lengths.limit,
                    "; raise the encoding's limit or make the rows shorter")});
}

void RefuseNextTokens(const Entry& task, const v1::Data& data,
                      const v1::Model& model, Violations* violations) {
  const bool in_place =
      task.answers_in_place != nullptr && task.answers_in_place(data.params());
  if (model.causal() || in_place) return;
  violations->push_back(
      {"data.task",
       absl::StrCat(task.name,
                    " is learned from next tokens, which a model with causal: "
                    "false sees before it says them; leave out model.causal, "
                    "or take a task whose answers are read in place, such as "
                    "ruoss")});
}

}  // namespace ordo::model::catalog
