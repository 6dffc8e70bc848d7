#include "model/catalog/resolve_data.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "model/catalog/lengths.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;

base::FieldViolation TooLong(const std::string& field, int64_t tokens,
                             int64_t limit) {
  return {field, absl::StrCat("rows have up to ", tokens,
                              " tokens, the encoding has room for ", limit,
                              "; raise the encoding's limit or make the rows "
                              "shorter")};
}

// Those of the lengths that are numbers. False: none is too long, or the task
// has none.
bool RefuseLengths(const AskedRows& rows, Violations* violations) {
  if (LengthsOf(rows.task, rows.params).empty()) return false;
  const size_t num_before = violations->size();
  const auto& lengths = rows.params.at(kLengths).list_value().values();
  for (int i = 0; i < lengths.size(); ++i) {
    if (!lengths[i].has_number_value()) continue;
    ParamMap alone = rows.params;
    auto* list = alone[kLengths].mutable_list_value();
    list->clear_values();
    *list->add_values() = lengths[i];
    const int64_t tokens = LongestRow(rows.task, alone);
    if (tokens <= rows.limit) continue;
    violations->push_back(
        TooLong(absl::StrCat(FieldPath(rows.field, kLengths), "[", i, "]"),
                tokens, rows.limit));
  }
  return violations->size() > num_before;
}

// The path of the parameter to lower; of them all where it is none alone.
std::string FieldToLower(const AskedRows& rows) {
  std::string field = rows.field;
  int64_t shortest = LongestRow(rows.task, rows.params);
  for (const Param& param : rows.task.params) {
    const auto given = rows.params.find(param.name);
    if (param.type != ParamType::kInteger || given == rows.params.end()) {
      continue;
    }
    // 0 may stand for another number.
    const double least = std::max(1.0, param.min.value_or(1));
    if (given->second.number_value() == least) continue;
    ParamMap lowered = rows.params;
    lowered[param.name].set_number_value(least);
    const int64_t tokens = LongestRow(rows.task, lowered);
    if (tokens < shortest) {
      shortest = tokens;
      field = FieldPath(rows.field, param.name);
    }
    if (tokens <= rows.limit) return FieldPath(rows.field, param.name);
  }
  return field;
}

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

void RefuseLongRows(const AskedRows& rows, Violations* violations) {
  if (rows.task.row_length == nullptr || rows.limit == 0) return;
  const int64_t tokens = LongestRow(rows.task, rows.params);
  if (tokens <= rows.limit || RefuseLengths(rows, violations)) return;
  violations->push_back(TooLong(FieldToLower(rows), tokens, rows.limit));
}

void RefuseDocumentsApart(const Entry& task, const v1::Data& data,
                          const v1::Component& encoding,
                          Violations* violations) {
  constexpr char kApart[] = "separate_documents";
  const auto apart = data.params().find(kApart);
  if (apart == data.params().end() || !apart->second.bool_value()) return;
  const int64_t steady = SteadyLength(encoding);
  const int64_t tokens = LongestRow(task, data.params());
  if (steady == 0 || tokens <= steady) return;
  violations->push_back(
      {FieldPath("data.params", kApart),
       absl::StrCat("rows have up to ", tokens,
                    " tokens, and past a trained_length of ", steady,
                    " the encoding turns tokens by the length of their row: no "
                    "document would be as it is alone; raise trained_length, "
                    "make the rows shorter or leave out ",
                    kApart)});
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
