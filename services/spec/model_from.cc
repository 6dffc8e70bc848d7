#include "services/spec/model_from.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/text_format.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;
using ordo::training::v1::Model;
using Violations = std::vector<base::FieldViolation>;

std::string TextOf(const Model& model,
                   const google::protobuf::FieldDescriptor* field) {
  std::string text;
  google::protobuf::TextFormat::PrintFieldValueToString(model, field, -1,
                                                        &text);
  return text;
}

// Fields of `given` that contradict the checkpoint's model.
void CompareModels(const Model& given, const Model& known,
                   const std::string& source, Violations* violations) {
  static const auto& own =
      *new std::set<std::string>{"init_std", "dropout", "from", "from_sha256"};
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  given.GetReflection()->ListFields(given, &fields);
  for (const auto* field : fields) {
    if (own.count(field->name()) > 0) continue;
    const std::string text = TextOf(known, field);
    if (TextOf(given, field) == text) continue;
    violations->push_back(
        {absl::StrCat("model.", field->name()),
         absl::StrCat("is ", text, " in ", source,
                      ", which the model is taken from; leave it out")});
  }
}

}  // namespace

void TakeModel(const JobSpec& trained, const std::string& source, JobSpec* spec,
               Violations* violations) {
  const Model& given = spec->model();
  CompareModels(given, trained.model(), source, violations);
  Model model = trained.model();
  if (given.has_init_std()) model.set_init_std(given.init_std());
  if (given.has_dropout()) model.set_dropout(given.dropout());
  model.set_from(given.from());
  model.clear_from_sha256();
  *spec->mutable_model() = std::move(model);
  if (!spec->has_encoding()) *spec->mutable_encoding() = trained.encoding();
}

}  // namespace ordo::services::spec
