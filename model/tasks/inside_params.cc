#include "model/tasks/inside_params.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status/details.h"
#include "base/status/status.h"
#include "model/tasks/inside/inside_task.h"
#include "model/tasks/inside/rows.h"
#include "model/tasks/text_params.h"
#include "model/text/task/text_samples.h"

namespace ordo::model::tasks {
namespace {

using catalog::Params;
using Kind = InsideQuery::Kind;

// Where max_length is 0 and no training says it.
constexpr int kUsualLength = 1024;
constexpr int kUsualMapLength = 96;

std::vector<int> Integers(const Params& params, const std::string& name) {
  const std::vector<double> numbers = params.Numbers(name);
  return {numbers.begin(), numbers.end()};
}

int MaxLengthOf(Kind kind, const Params& params) {
  const auto length = static_cast<int>(params.Integer("max_length"));
  if (length > 0) return length;
  return kind == Kind::kAttention ? kUsualMapLength : kUsualLength;
}

absl::StatusOr<std::unique_ptr<inside::Rows>> RowsOf(const Params& params,
                                                     int max_length,
                                                     InsideSource source) {
  const int64_t samples = params.Integer("samples");
  const bool has_data = !params.Strings("data").empty();
  if (!has_data && source.trained_on != nullptr) {
    return inside::MakeRowsOfTask(std::move(source.trained_on),
                                  {samples, max_length});
  }
  text::task::TextSamplesOptions options;
  options.text = TextOptionsOf(params, kEvaluationField);
  options.split = SplitOf(params);
  options.held_out = HeldOutOf(params);
  options.samples = samples;
  options.max_length = max_length;
  options.min_length =
      std::min(max_length, static_cast<int>(params.Integer("min_length")));
  std::vector<base::FieldViolation> violations;
  CheckTextGiven(options.text, &violations);
  ORDO_RETURN_IF_ERROR(base::InvalidFields(violations));
  return text::task::OpenTextSamples(source.access, options);
}

}  // namespace

absl::StatusOr<std::unique_ptr<EvaluationTask>> InsideOf(Kind kind,
                                                         const Params& params,
                                                         InsideSource source) {
  InsideQuery query;
  query.kind = kind;
  query.layers = Integers(params, "layers");
  query.precision = params.String("precision");
  if (kind == Kind::kShifts) {
    query.shift = static_cast<int>(params.Integer("shift"));
  }
  if (kind == Kind::kAttention) query.heads = Integers(params, "heads");
  ORDO_ASSIGN_OR_RETURN(
      auto rows, RowsOf(params, MaxLengthOf(kind, params), std::move(source)));
  return inside::MakeInside(std::move(query), std::move(rows));
}

}  // namespace ordo::model::tasks
