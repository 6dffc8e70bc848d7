#include "services/jobs/alias_binder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "services/spec/references.h"

namespace ordo::services::jobs {
namespace {

using ordo::jobs::v1::JobSpec;
using Violations = std::vector<base::FieldViolation>;

}  // namespace

void AliasBinder::BindField(const std::string& field, std::string* reference,
                            JobSpec* spec, Violations* violations) {
  if (!spec::NamesAlias(*reference)) return;
  const std::string name = *reference;
  auto seen = seen_.find(name);
  if (seen == seen_.end()) {
    const std::string id = name.substr(name.find('/') + 1);
    seen = seen_.emplace(name, scheduler_.GetAlias(id)).first;
  }
  const auto& alias = seen->second;
  if (!alias.ok()) {
    violations->push_back({field, std::string(alias.status().message())});
    return;
  }
  *reference = alias->checkpoint();
  ordo::jobs::v1::BoundAlias& bound = *spec->add_bound();
  bound.set_field(field);
  bound.set_alias(name);
  bound.set_checkpoint(alias->checkpoint());
  bound.set_manifest_sha256(alias->manifest_sha256());
}

void AliasBinder::Bind(JobSpec* spec, Violations* violations) {
  for (int i = 0; i < spec->checkpoints_size(); ++i) {
    BindField(absl::StrCat("checkpoints[", i, "]"),
              spec->mutable_checkpoints(i), spec, violations);
  }
  if (!spec->start_from().empty()) {
    BindField("start_from", spec->mutable_start_from(), spec, violations);
  }
  if (!spec->model().from().empty()) {
    BindField("model.from", spec->mutable_model()->mutable_from(), spec,
              violations);
  }
  if (!spec->has_gate()) return;
  auto& gate = *spec->mutable_gate();
  BindField("gate.candidate", gate.mutable_candidate(), spec, violations);
  BindField("gate.baseline", gate.mutable_baseline(), spec, violations);
  BindField("gate.anchor", gate.mutable_anchor(), spec, violations);
}

bool NamesAnAlias(const JobSpec& spec) {
  return spec::NamesAlias(spec.start_from()) ||
         spec::NamesAlias(spec.model().from()) ||
         spec::NamesAlias(spec.gate().candidate()) ||
         spec::NamesAlias(spec.gate().baseline()) ||
         spec::NamesAlias(spec.gate().anchor()) ||
         std::any_of(spec.checkpoints().begin(), spec.checkpoints().end(),
                     spec::NamesAlias);
}

bool HasBound(const JobSpec& spec) {
  const auto& stages = spec.pipeline().stages();
  return !spec.bound().empty() ||
         (spec.has_sweep() && HasBound(spec.sweep().run())) ||
         (spec.has_compare() && HasBound(spec.compare().run())) ||
         std::any_of(stages.begin(), stages.end(), HasBound);
}

void ClearBound(JobSpec* spec) {
  spec->clear_bound();
  if (spec->has_sweep()) ClearBound(spec->mutable_sweep()->mutable_run());
  if (spec->has_compare()) ClearBound(spec->mutable_compare()->mutable_run());
  if (!spec->has_pipeline()) return;
  for (JobSpec& stage : *spec->mutable_pipeline()->mutable_stages()) {
    ClearBound(&stage);
  }
}

}  // namespace ordo::services::jobs
