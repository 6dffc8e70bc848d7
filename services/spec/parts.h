#ifndef ORDO_SERVICES_SPEC_PARTS_H_
#define ORDO_SERVICES_SPEC_PARTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status/details.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"

// The parts of sweeps, comparisons and pipelines, and where in the spec of
// these each of their fields was written, so that an error names what a person
// wrote.

namespace ordo::services::spec {

inline constexpr size_t kMaxParts = 1000;

// One job of a sweep, comparison or pipeline.
struct Part {
  // With its name.
  ordo::jobs::v1::JobSpec spec;
  // Job.part.
  std::string label;
  // What it has of its own, for people, such as
  // "training.learning_rate=0.001, training.seed=2"; empty: its stage says it.
  std::string differs;
  // Path of its template in the parent's spec, such as "compare.run".
  std::string origin;
  // Others have the same template.
  bool shares_origin = true;
  // Fields that are from elsewhere in the parent's spec: the path of each here
  // and there.
  std::map<std::string, std::string> sources;
};

// Where in the parent's spec a field of the part comes from.
std::string SourceOf(const Part& part, const std::string& field);
// The same, empty when it is from the template.
std::string OwnSourceOf(const Part& part, const std::string& field);

// Collects what is wrong with parts, by where it comes from: what several parts
// have from their template is told once.
class PartViolations {
 public:
  void Add(const Part& part,
           const std::vector<base::FieldViolation>& violations);

  // Appends them in their order, without those that are there already. Those of
  // a template that not all of `parts` have name the parts.
  void MoveTo(const std::vector<Part>& parts,
              std::vector<base::FieldViolation>* violations);

 private:
  struct Entry {
    base::FieldViolation violation;
    bool of_template = false;
    // Labels of the parts that have it.
    std::set<std::string> labels;
  };

  std::vector<Entry> entries_;
  // Place of each in entries_, by field and description.
  std::map<std::pair<std::string, std::string>, size_t> places_;
};

}  // namespace ordo::services::spec

#endif  // ORDO_SERVICES_SPEC_PARTS_H_
