#include "model/catalog/tokens.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace ordo::model::catalog {
namespace {

constexpr char kTokenizer[] = "tokenizer";

// The tokenizer that the parameters name; empty: they name none.
std::string NamedTokenizer(const Entry& task, const ParamMap& params) {
  if (FindParam(task, kTokenizer) == nullptr) return "";
  const auto found = params.find(kTokenizer);
  return found == params.end() ? "" : found->second.string_value();
}

bool IsFile(const std::string& tokenizer) {
  return !tokenizer.empty() && tokenizer != kByteTokenizer;
}

// Of training: "with t.model", "on addition".
std::string HowTrained(const ordo::training::v1::Data& data,
                       const std::string& tokenizer) {
  return tokenizer.empty() ? absl::StrCat("on ", data.task())
                           : absl::StrCat("with ", tokenizer);
}

}  // namespace

std::string TokensOf(const Entry& task, const ParamMap& params) {
  const std::string named = NamedTokenizer(task, params);
  if (!named.empty()) return named;
  const bool may_name = FindParam(task, kTokenizer) != nullptr;
  return task.vocabulary.empty() && !may_name ? task.name : task.vocabulary;
}

void RefuseOtherTokens(const AskedTokens& asked, Violations* violations) {
  const auto& [task, field, params, data] = asked;
  const Entry* training = Find(Kind::kTrainingTask, data.task());
  if (training == nullptr) return;
  const std::string trained = TokensOf(*training, data.params());
  const std::string wanted = TokensOf(task, params);
  if (trained.empty() || wanted.empty() || trained == wanted) return;
  const std::string named = NamedTokenizer(task, params);
  const std::string trained_with = NamedTokenizer(*training, data.params());
  if (IsFile(named) && IsFile(trained_with)) return;
  const std::string how = HowTrained(data, trained_with);
  if (named.empty()) {
    violations->push_back(
        {FieldPath(field, "task"),
         absl::StrCat(task.name,
                      " has other tokens than the model, which was "
                      "trained ",
                      how,
                      ": ids do not mean the same; take a "
                      "task of the same tokens, or a model that was trained on "
                      "these")});
    return;
  }
  violations->push_back(
      {FieldPath(field, "params.tokenizer"),
       absl::StrCat("is ", named, ", and the model was trained ", how,
                    ": ids do not mean the same; ",
                    trained_with.empty()
                        ? "take a task of the same tokens, or a model that "
                          "was trained with this tokenizer"
                        : "leave it out, which takes that of the training")});
}

std::optional<TwoTokenizers> FindTwoTokenizers(
    const ordo::training::v1::Evaluation& evaluation,
    const ordo::training::v1::Data& trained_on) {
  const Entry* training = Find(Kind::kTrainingTask, trained_on.task());
  const Entry* task = Find(Kind::kEvaluationTask, evaluation.task());
  if (training == nullptr || task == nullptr) return std::nullopt;
  TwoTokenizers two = {NamedTokenizer(*task, evaluation.params()),
                       NamedTokenizer(*training, trained_on.params())};
  if (!IsFile(two.named) || !IsFile(two.trained) || two.named == two.trained) {
    return std::nullopt;
  }
  return two;
}

void AddTokenizerNotices(const google::protobuf::RepeatedPtrField<
                             ordo::training::v1::Evaluation>& evaluations,
                         const ordo::training::v1::Data& trained_on,
                         std::vector<std::string>* notices) {
  for (int i = 0; i < evaluations.size(); ++i) {
    const auto two = FindTwoTokenizers(evaluations[i], trained_on);
    if (!two.has_value()) continue;
    std::string notice = absl::StrCat(
        "evaluations[", i, "].params.tokenizer is ", two->named,
        ", and the model was trained with ", two->trained,
        ": scores mean something only if both give the same ids; left out, it "
        "is that of the training");
    if (std::find(notices->begin(), notices->end(), notice) == notices->end()) {
      notices->push_back(std::move(notice));
    }
  }
}

}  // namespace ordo::model::catalog
