#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/nearest.h"
#include "model/catalog/fields.h"
#include "services/spec/expand_kinds.h"
#include "services/spec/references.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;
using ordo::jobs::v1::Need;
using ordo::jobs::v1::Pipeline;
using Violations = std::vector<base::FieldViolation>;

constexpr int kMaxStages = 64;

std::string StagePath(size_t i) {
  return absl::StrCat("pipeline.stages[", i, "]");
}

bool IsStageKind(JobSpec::Kind kind) {
  return kind == JobSpec::TRAIN || kind == JobSpec::EVALUATE ||
         kind == JobSpec::BENCHMARK || kind == JobSpec::GATE;
}

// Gives stages the names of their jobs where they name each other.
class Binder {
 public:
  Binder(const JobSpec& parent, std::vector<Part>* parts,
         Violations* violations)
      : prefix_(absl::StrCat("jobs/", parent.name(), "-")),
        parts_(*parts),
        waits_(parts->size()),
        violations_(*violations) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      places_.emplace(parts_[i].label, i);
      names_.push_back(parts_[i].label);
    }
  }

  void Run() {
    for (size_t i = 0; i < parts_.size(); ++i) BindStage(i);
    std::vector<size_t> path;
    std::set<size_t> done;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!FindCircle(i, &path, &done)) return;
    }
  }

 private:
  void BindStage(size_t i) {
    JobSpec& spec = parts_[i].spec;
    for (int k = 0; k < spec.needs_size(); ++k) {
      Bind(i, absl::StrCat("needs[", k, "].job"), false,
           spec.mutable_needs(k)->mutable_job());
    }
    for (int k = 0; k < spec.checkpoints_size(); ++k) {
      Bind(i, absl::StrCat("checkpoints[", k, "]"), true,
           spec.mutable_checkpoints(k));
    }
    if (!spec.start_from().empty()) {
      Bind(i, "start_from", true, spec.mutable_start_from());
    }
    if (!spec.model().from().empty()) {
      Bind(i, "model.from", true, spec.mutable_model()->mutable_from());
    }
    if (spec.has_gate()) BindGate(i, spec.mutable_gate());
  }

  void BindGate(size_t i, ordo::training::v1::Gate* gate) {
    for (const auto& [field, name] :
         {std::pair("gate.candidate", gate->mutable_candidate()),
          std::pair("gate.baseline", gate->mutable_baseline()),
          std::pair("gate.anchor", gate->mutable_anchor())}) {
      if (!name->empty()) Bind(i, field, true, name);
    }
  }

  // A name alone becomes that of the stage's job, which may be named as well; a
  // checkpoint of it is needed. Of that may be said which: STAGE/checkpoints/
  // best, last or every.
  void Bind(size_t i, const std::string& field, bool is_checkpoint,
            std::string* name) {
    const std::string path = absl::StrCat(StagePath(i), ".", field);
    const std::vector<std::string> words =
        absl::StrSplit(absl::StripPrefix(*name, prefix_), '/');
    const bool says_which =
        is_checkpoint && words.size() == 3 && words[1] == "checkpoints";
    const auto place = words.size() == 1 || says_which ? places_.find(words[0])
                                                       : places_.end();
    if (place == places_.end()) {
      // Others are jobs, or are told as what they are.
      const bool is_job = words.size() > 1 && !says_which;
      if (name->empty() || is_job) return;
      violations_.push_back(
          {path,
           absl::StrCat("no stage is called '", words[0], "'",
                        base::SuggestName(words[0], names_),
                        "; a job that is no stage is written jobs/{job}")});
      *name = "jobs/unknown";
      return;
    }
    const Part& stage = parts_[place->second];
    if (is_checkpoint && stage.spec.kind() != JobSpec::TRAIN) {
      violations_.push_back(
          {path, absl::StrCat("the stage ", stage.label,
                              " leaves no checkpoint; name one of kind: "
                              "train")});
    }
    const std::string job = prefix_ + stage.label;
    waits_[i].push_back(place->second);
    *name = job;
    if (says_which) Choose(path, words[2], name);
    // All that a stage leaves are evaluated as they come, not after its end.
    if (is_checkpoint && !NamesEvery(*name)) Need(i, field, job);
  }

  // Which of a stage's checkpoints; the stage's name becomes a reference.
  void Choose(const std::string& path, const std::string& which,
              std::string* name) {
    // Where it is none that may stand there, that is told of the stage.
    if (which == "best" || which == "every") {
      absl::StrAppend(name, "/checkpoints/", which);
    } else if (which != "last" && which != "latest") {
      violations_.push_back(
          {path, absl::StrCat("'", which, "' is none of best, last and every, ",
                              "by which a checkpoint that a stage has yet to "
                              "leave is named")});
    }
  }

  void Need(size_t i, const std::string& field, const std::string& job) {
    Part& part = parts_[i];
    const auto& needs = part.spec.needs();
    if (std::any_of(needs.begin(), needs.end(),
                    [&job](const auto& need) { return need.job() == job; })) {
      return;
    }
    part.sources[absl::StrCat("needs[", needs.size(), "]")] =
        absl::StrCat(StagePath(i), ".", field);
    ordo::jobs::v1::Need* need = part.spec.add_needs();
    need->set_job(job);
    need->set_condition(ordo::jobs::v1::Need::SUCCEEDED);
  }

  // False when a circle was found, which is told.
  bool FindCircle(size_t i, std::vector<size_t>* path, std::set<size_t>* done) {
    if (done->count(i) > 0) return true;
    const auto begin = std::find(path->begin(), path->end(), i);
    if (begin != path->end()) {
      std::vector<std::string> names;
      for (auto at = begin; at != path->end(); ++at) {
        names.push_back(parts_[*at].label);
      }
      names.push_back(parts_[i].label);
      violations_.push_back(
          {StagePath(i), absl::StrCat("the stages wait for each other: ",
                                      absl::StrJoin(names, " needs "),
                                      "; leave one of these out")});
      // None of them can be resolved after what it takes a model from.
      return false;
    }
    path->push_back(i);
    for (const size_t other : waits_[i]) {
      if (!FindCircle(other, path, done)) return false;
    }
    path->pop_back();
    done->insert(i);
    return true;
  }

  const std::string prefix_;
  std::vector<Part>& parts_;
  // By stage: those that it waits for.
  std::vector<std::vector<size_t>> waits_;
  Violations& violations_;
  std::map<std::string, size_t> places_;
  std::vector<std::string> names_;
};

bool CheckStages(const Pipeline& pipeline, Violations* violations) {
  if (pipeline.stages().empty() || pipeline.stages_size() > kMaxStages) {
    violations->push_back(
        {"pipeline.stages",
         absl::StrCat("must have 1..", kMaxStages, " stages, has ",
                      pipeline.stages_size())});
    return false;
  }
  const size_t num_wrong = violations->size();
  std::set<std::string> seen;
  for (int i = 0; i < pipeline.stages_size(); ++i) {
    const JobSpec& stage = pipeline.stages(i);
    const std::string path = StagePath(static_cast<size_t>(i));
    if (!model::catalog::IsId(stage.name())) {
      violations->push_back(
          {path + ".name",
           absl::StrCat(stage.name().empty() ? "required; " : "must be ",
                        model::catalog::IdRule())});
    } else if (!seen.insert(stage.name()).second) {
      violations->push_back(
          {path + ".name", absl::StrCat("'", stage.name(),
                                        "' is there twice; give each its "
                                        "own")});
    }
    if (!IsStageKind(stage.kind())) {
      violations->push_back(
          {path + ".kind",
           stage.kind() == JobSpec::KIND_UNSPECIFIED
               ? "required; must be train, evaluate, benchmark or gate"
               : "must be train, evaluate, benchmark or gate"});
    }
  }
  return violations->size() == num_wrong;
}

}  // namespace

void MakePipelineParts(JobSpec* parent, std::vector<Part>* parts,
                       Violations* violations) {
  if (!parent->has_pipeline()) {
    violations->push_back({"pipeline", "required with kind: pipeline"});
    return;
  }
  Pipeline& pipeline = *parent->mutable_pipeline();
  CheckMaxParallel("pipeline", kMaxStages, &pipeline, violations);
  if (!CheckStages(pipeline, violations)) return;
  for (int i = 0; i < pipeline.stages_size(); ++i) {
    const JobSpec& stage = pipeline.stages(i);
    Part part;
    part.spec = stage;
    part.spec.set_name(absl::StrCat(parent->name(), "-", stage.name()));
    part.label = stage.name();
    part.origin = StagePath(static_cast<size_t>(i));
    part.shares_origin = false;
    parts->push_back(std::move(part));
  }
  Binder(*parent, parts, violations).Run();
}

}  // namespace ordo::services::spec
