#include "services/spec/data_paths.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/struct.pb.h"
#include "model/catalog/catalog.h"

namespace ordo::services::spec {
namespace {

using google::protobuf::Value;
using model::catalog::Entry;
using model::catalog::Kind;
using model::catalog::Param;
using model::catalog::ParamMap;
using ordo::jobs::v1::JobSpec;

void VisitText(const DataPath& where, Value* value,
               const DataPathVisitor& visit) {
  if (value->kind_case() != Value::kStringValue) return;
  if (!value->string_value().empty()) {
    visit(where, value->mutable_string_value());
  }
}

// `field` is the path of the parameters.
void VisitParams(const Entry* entry, const std::string& field, ParamMap* params,
                 const DataPathVisitor& visit) {
  if (entry == nullptr) return;
  for (const Param& param : entry->params) {
    if (!param.names_data) continue;
    const auto found = params->find(param.name);
    if (found == params->end()) continue;
    const std::string path = absl::StrCat(field, ".", param.name);
    if (found->second.kind_case() != Value::kListValue) {
      if (found->second.string_value() == model::catalog::kByteTokenizer) {
        continue;
      }
      VisitText({path, *entry, param, *params}, &found->second, visit);
      continue;
    }
    auto* values = found->second.mutable_list_value()->mutable_values();
    for (int i = 0; i < values->size(); ++i) {
      const std::string item = absl::StrCat(path, "[", i, "]");
      VisitText({item, *entry, param, *params}, values->Mutable(i), visit);
    }
  }
}

// Whether one of the parameters that are given may be a path of data.
bool HasPaths(const Entry* entry, const ParamMap& params) {
  if (entry == nullptr) return false;
  for (const Param& param : entry->params) {
    if (param.names_data && params.count(param.name) > 0) return true;
  }
  return false;
}

const Entry* TrainingTask(const JobSpec& spec) {
  return model::catalog::Find(Kind::kTrainingTask, spec.data().task());
}

}  // namespace

void VisitDataPaths(JobSpec* spec, const DataPathVisitor& visit) {
  if (spec->has_data()) {
    VisitParams(TrainingTask(*spec), "data.params",
                spec->mutable_data()->mutable_params(), visit);
  }
  for (int i = 0; i < spec->evaluations_size(); ++i) {
    auto* evaluation = spec->mutable_evaluations(i);
    VisitParams(model::catalog::Find(Kind::kEvaluationTask, evaluation->task()),
                absl::StrCat("evaluations[", i, "].params"),
                evaluation->mutable_params(), visit);
  }
}

bool NamesData(const JobSpec& spec) {
  if (spec.has_data() && HasPaths(TrainingTask(spec), spec.data().params())) {
    return true;
  }
  for (const auto& evaluation : spec.evaluations()) {
    if (HasPaths(model::catalog::Find(Kind::kEvaluationTask, evaluation.task()),
                 evaluation.params())) {
      return true;
    }
  }
  return false;
}

}  // namespace ordo::services::spec
