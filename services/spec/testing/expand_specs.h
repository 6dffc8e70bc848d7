#ifndef ORDO_SERVICES_SPEC_TESTING_EXPAND_SPECS_H_
#define ORDO_SERVICES_SPEC_TESTING_EXPAND_SPECS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "services/spec/expand.h"

// Specs that have parts, for tests, and what is wrong with them.

namespace ordo::services::spec::testing {

inline constexpr char kRun[] =
    "run: {encoding: {name: rope}, data: {task: addition},"
    " training: {steps: 10}, evaluations: [{task: addition_grid}]}";

inline ordo::jobs::v1::JobSpec Read(const std::string& yaml) {
  ordo::jobs::v1::JobSpec spec;
  ORDO_EXPECT_OK(base::ReadMessage(yaml, base::TextForm::kYaml, &spec));
  return spec;
}

inline ordo::jobs::v1::JobSpec Compare(const std::string& rest) {
  return Read(std::string("kind: compare\nname: c\ncompare:\n  ") + kRun +
              "\n" + rest);
}

inline ordo::jobs::v1::JobSpec Sweep(const std::string& rest) {
  return Read(std::string("kind: sweep\nname: s\nsweep:\n  ") + kRun + "\n" +
              rest);
}

inline ordo::jobs::v1::JobSpec Pipeline(const std::string& stages) {
  return Read("kind: pipeline\nname: p\npipeline: {stages: [" + stages + "]}");
}

inline constexpr char kTrainStage[] =
    "{kind: train, name: first, encoding: {name: rope}, data: {task: "
    "addition}, training: {steps: 10}}";

inline constexpr char kTwoArms[] =
    "  arms: [{name: rope}, {name: tape, set: {encoding: {name: tape}}}]\n";

inline std::vector<std::string> NamesOf(
    const absl::StatusOr<Expansion>& expansion) {
  ORDO_EXPECT_OK(expansion);
  std::vector<std::string> names;
  if (!expansion.ok()) return names;
  for (const Part& part : expansion->parts) names.push_back(part.spec.name());
  return names;
}

// "field: description" of all that is wrong.
inline std::vector<std::string> Wrong(const ordo::jobs::v1::JobSpec& spec) {
  std::vector<std::string> wrong;
  for (const auto& one : base::FieldViolations(Expand(spec).status())) {
    wrong.push_back(one.field + ": " + one.description);
  }
  return wrong;
}

// The only thing that is wrong; else all of it, which no expectation matches.
inline std::string OnlyWrong(const ordo::jobs::v1::JobSpec& spec) {
  const std::vector<std::string> wrong = Wrong(spec);
  if (wrong.size() == 1) return wrong[0];
  std::string all = "[" + std::to_string(wrong.size()) + "] ";
  for (const std::string& one : wrong) all = all + "\n" + one;
  return all;
}

}  // namespace ordo::services::spec::testing

#endif  // ORDO_SERVICES_SPEC_TESTING_EXPAND_SPECS_H_
