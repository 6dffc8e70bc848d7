#include "model/catalog/resolve_evaluations.h"

#include <algorithm>
#include <map>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "model/catalog/catalog.h"
#include "model/catalog/fields.h"
#include "model/catalog/lengths.h"
#include "model/catalog/resolve_data.h"
#include "model/catalog/tokens.h"

namespace ordo::model::catalog {
namespace {

namespace v1 = ::ordo::training::v1;

constexpr int kMaxEvaluationNameLength = 63;

// Reports are called <evaluation>-<step> and a folder has that name.
bool IsEvaluationName(std::string_view name) {
  if (name.empty() || name.size() > kMaxEvaluationNameLength) return false;
  if (!absl::ascii_islower(name.front())) return false;
  for (const char c : name) {
    if (!absl::ascii_islower(c) && !absl::ascii_isdigit(c) && c != '-' &&
        c != '_') {
      return false;
    }
  }
  return true;
}

void ResolveMoment(const EvaluationsContext& context, const std::string& path,
                   v1::Evaluation* evaluation, Violations* violations) {
  if (!context.in_training) {
    for (const char* name : {"at", "every_steps"}) {
      const auto* field = v1::Evaluation::descriptor()->FindFieldByName(name);
      if (evaluation->GetReflection()->HasField(*evaluation, field)) {
        violations->push_back(
            {FieldPath(path, name),
             "has a meaning inside a training job only; leave it out"});
      }
    }
    return;
  }
  if (evaluation->has_every_steps()) {
    if (!evaluation->at().empty()) {
      violations->push_back({FieldPath(path, "at"),
                             "not beside every_steps, which includes the end; "
                             "leave one of them out"});
    }
    ResolveNumber({"every_steps", 1, 1e9, {}}, path, evaluation, violations);
    return;
  }
  ResolveChoice({"at", {"end"}}, path, evaluation, violations);
}

// `path_of_name` has the names so far and who has them.
void CheckName(const std::string& path, const std::string& name,
               std::map<std::string, std::string>* path_of_name,
               Violations* violations) {
  if (!IsEvaluationName(name)) {
    violations->push_back(
        {FieldPath(path, "name"),
         absl::StrCat("must be lower-case letters, digits, '-' and '_', "
                      "starting with a letter, at most ",
                      kMaxEvaluationNameLength, " characters")});
    return;
  }
  const auto [known, added] = path_of_name->emplace(name, path);
  if (!added) {
    violations->push_back(
        {FieldPath(path, "name"),
         absl::StrCat("'", name, "' is the name of ", known->second,
                      " too; give each its own")});
  }
}

// More items than a report can be made of. `field` is that of the evaluation,
// whose parameters are resolved.
void RefuseManyItems(const std::string& field, const Entry& task,
                     const ParamMap& params, Violations* violations) {
  const int64_t per_sample = ItemsPerSample(task, params);
  // Where data is read it is known only then how many there are.
  if (per_sample == 0) return;
  const int64_t tokens = std::max<int64_t>(1, LongestRow(task, params));
  const int64_t samples = Params(params).Integer("samples");
  const int64_t limit = std::min(kMaxItems, kMaxItemTokens / tokens);
  if (samples <= limit / per_sample) return;
  const std::string fix =
      per_sample <= limit
          ? absl::StrCat("give at most ", limit / per_sample)
          : "make the grid smaller, or lengths shorter or fewer";
  violations->push_back(
      {FieldPath(field, "params.samples"),
       absl::StrCat("of ", samples, " makes ", samples * per_sample,
                    " items of up to ", tokens, " tokens; at most ", limit,
                    " of such are possible: ", fix)});
}

// An evaluation, for what the model has to have for it.
struct Asked {
  const Entry& task;
  const std::string& path;
  const v1::Evaluation& evaluation;
  // Its parameters are right.
  bool valid;
  // Its answers are read where they are asked for.
  bool in_place;
};

// Whether the model has the evaluation's tokens, and can say them.
void CheckTokens(const EvaluationsContext& context, const Asked& asked,
                 Violations* violations) {
  const std::string path = FieldPath(asked.path, "task");
  const ParamMap& params = asked.evaluation.params();
  const size_t num_before = violations->size();
  const int vocabulary_size =
      VocabularyIfKnown(&asked.task, asked.valid, params);
  if (context.vocabulary_size > 0 &&
      vocabulary_size > context.vocabulary_size) {
    violations->push_back(
        {path, absl::StrCat(asked.task.name, " has ", vocabulary_size,
                            " tokens, the model ", context.vocabulary_size,
                            "; it needs one with a larger vocabulary_size")});
  }
  if (!context.causal && !asked.in_place) {
    violations->push_back(
        {path,
         "answers token by token, which a model with causal: false cannot; "
         "leave out model.causal or the evaluation"});
  }
  if (asked.valid && context.trained_on != nullptr &&
      violations->size() == num_before) {
    RefuseOtherTokens({asked.task, asked.path, params, *context.trained_on},
                      violations);
  }
}

}  // namespace

void ResolveEvaluations(
    const EvaluationsContext& context,
    google::protobuf::RepeatedPtrField<v1::Evaluation>* evaluations,
    Violations* violations) {
  if (evaluations->size() > kMaxEvaluations) {
    violations->push_back(
        {context.field, absl::StrCat("has ", evaluations->size(),
                                     " entries; at most ", kMaxEvaluations)});
    return;
  }
  std::map<std::string, std::string> path_of_name;
  for (int i = 0; i < evaluations->size(); ++i) {
    v1::Evaluation* evaluation = evaluations->Mutable(i);
    const std::string path = absl::StrCat(context.field, "[", i, "]");
    const Entry* entry =
        ResolveName(Kind::kEvaluationTask, FieldPath(path, "task"),
                    evaluation->task(), violations);
    // Where the parameters are wrong they do not say.
    bool valid = false;
    bool in_place = entry != nullptr && entry->answers_in_place != nullptr;
    if (entry != nullptr) {
      const size_t num_before = violations->size();
      ResolveLengths({*entry, path, context.trained_on},
                     evaluation->mutable_params(), violations);
      if (entry->from_training != nullptr && context.trained_on != nullptr) {
        entry->from_training(path, *context.trained_on,
                             evaluation->mutable_params(), violations);
      }
      ResolveParams(*entry, path, evaluation->mutable_params(), violations);
      valid = violations->size() == num_before;
      if (valid) {
        in_place = in_place && entry->answers_in_place(evaluation->params());
        RefuseLongRows({*entry, FieldPath(path, "params"), evaluation->params(),
                        context.max_length},
                       violations);
        RefuseManyItems(path, *entry, evaluation->params(), violations);
      }
      CheckTokens(context, {*entry, path, *evaluation, valid, in_place},
                  violations);
    }
    ResolveMoment(context, path, evaluation, violations);
    if (!evaluation->has_seed()) evaluation->set_seed(1);
    const bool named = !evaluation->name().empty();
    if (!named) evaluation->set_name(evaluation->task());
    // A name that is that of an unknown task has been complained about.
    if (named || entry != nullptr) {
      CheckName(path, evaluation->name(), &path_of_name, violations);
    }
  }
}

}  // namespace ordo::model::catalog
