#ifndef ORDO_MODEL_CATALOG_LENGTHS_H_
#define ORDO_MODEL_CATALOG_LENGTHS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status/details.h"
#include "model/catalog/catalog.h"
#include "proto/ordo/training/v1/spec.pb.h"

// Several lengths in one evaluation: the parameter `lengths` of tasks that have
// a length (EvaluationTraits::length), numbers or, as "2x", multiples of the
// trained length.

namespace ordo::model::catalog {

inline constexpr char kLengths[] = "lengths";
inline constexpr int kMaxLengths = 64;

// The longest that a model was trained on, as the task counts; 0: it was
// trained on another task, or that has none. `trained_on` is resolved; null:
// not known, which is 0 too.
int64_t TrainedLength(const Entry& task,
                      const ordo::training::v1::Data* trained_on);

// An evaluation whose lengths are resolved. Not owned.
struct AskedLengths {
  const Entry& task;
  // Path of the evaluation.
  std::string_view field;
  // Resolved; null: not known.
  const ordo::training::v1::Data* trained_on;
};

// Turns multiples into numbers where it is known what the model was trained on;
// otherwise they stay. Appends what cannot be. What is no list of lengths is
// left to ResolveParams.
void ResolveLengths(const AskedLengths& asked, ParamMap* params,
                    std::vector<base::FieldViolation>* violations);

// The lengths of resolved parameters that are numbers, rising; empty: none are
// named, or the task has none.
std::vector<int64_t> LengthsOf(const Entry& task, const ParamMap& params);

// Appends a violation for the first length that is still a multiple.
void RefuseMultiples(const Entry& task, std::string_view field,
                     const ParamMap& params,
                     std::vector<base::FieldViolation>* violations);

// The parameters of one length: those of the task that are lengths have it, and
// what cuts rows is as LengthAxis::limit_param says. `params` are resolved.
// Without change where `lengths` are the task's own affair.
ParamMap AtLength(const Entry& task, ParamMap params, int64_t length);

// Most tokens that a model sees in a row, at any length. The task has a
// row_length.
int64_t LongestRow(const Entry& task, const ParamMap& params);

// Items that an evaluation with these resolved parameters, its `samples` aside,
// has for each of its samples, over all lengths; 0 of a task that makes no
// items: it has those of what it reads.
int64_t ItemsPerSample(const Entry& task, const ParamMap& params);

}  // namespace ordo::model::catalog

#endif  // ORDO_MODEL_CATALOG_LENGTHS_H_
