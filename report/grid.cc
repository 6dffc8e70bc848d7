#include "report/grid.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "report/json_values.h"

namespace ordo::report {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

constexpr int kMaxSamples = 1'000'000;

absl::StatusOr<int> Integer(const Struct& json, const std::string& name,
                            int min, int max) {
  const Value& value = JsonField(json, name);
  const double number = value.number_value();
  if (value.kind_case() != Value::kNumberValue ||
      number != std::floor(number) || number < min || number > max) {
    return base::InvalidField(
        name, absl::StrCat("must be a whole number from ", min, " to ", max));
  }
  return static_cast<int>(number);
}

// The number of right answers behind a share of `samples`.
absl::StatusOr<int> Count(const Value& cell, const std::string& field,
                          int samples) {
  const double right = cell.number_value() * samples;
  // Written with all digits, a share of n samples is n-ths to within rounding.
  if (cell.kind_case() != Value::kNumberValue || !(right >= -1e-6) ||
      !(right <= samples + 1e-6) ||
      std::abs(right - std::round(right)) > 1e-6 * samples) {
    return base::InvalidField(
        field, absl::StrCat("must be a share of ", samples, " samples"));
  }
  return static_cast<int>(std::lround(right));
}

absl::Status ReadCells(const Struct& json, Grid* grid) {
  const std::string shape = absl::StrCat("must be ", grid->max_digits,
                                         " lists of ", grid->max_digits);
  const ListValue& rows = JsonField(json, "cells").list_value();
  if (rows.values_size() != grid->max_digits) {
    return base::InvalidField("cells", shape);
  }
  for (int i = 0; i < grid->max_digits; ++i) {
    const ListValue& row = rows.values(i).list_value();
    if (row.values_size() != grid->max_digits) {
      return base::InvalidField(absl::StrCat("cells[", i, "]"), shape);
    }
    grid->right.emplace_back();
    for (int j = 0; j < grid->max_digits; ++j) {
      ORDO_ASSIGN_OR_RETURN(
          const int right,
          Count(row.values(j), absl::StrCat("cells[", i, "][", j, "]"),
                grid->samples));
      grid->right.back().push_back(right);
    }
  }
  return absl::OkStatus();
}

void Add(int right, int samples, GridScore* score) {
  score->right += right;
  score->samples += samples;
}

}  // namespace

absl::StatusOr<Grid> ParseGrid(std::string_view json) {
  Struct result;
  ORDO_RETURN_IF_ERROR(base::ReadMessage(json, base::TextForm::kJson, &result));
  const std::string& task = JsonField(result, "task").string_value();
  if (task != "addition_grid") {
    return base::InvalidField(
        "task", absl::StrCat("must be addition_grid; it is '", task, "'"));
  }
  Grid grid;
  grid.name = JsonField(result, "job").string_value();
  grid.checkpoint = JsonField(result, "checkpoint").string_value();
  grid.step = static_cast<int64_t>(JsonField(result, "step").number_value());
  ORDO_ASSIGN_OR_RETURN(grid.max_digits,
                        Integer(result, "max_digits", 1, kMaxGridDigits));
  if (JsonField(result, "trained_digits").kind_case() == Value::kNumberValue) {
    ORDO_ASSIGN_OR_RETURN(grid.trained_digits,
                          Integer(result, "trained_digits", 0, 1'000'000));
  }
  ORDO_ASSIGN_OR_RETURN(grid.samples,
                        Integer(result, "samples", 1, kMaxSamples));
  ORDO_RETURN_IF_ERROR(ReadCells(result, &grid));
  return grid;
}

GridSummary Summarize(const Grid& grid) {
  GridSummary summary;
  summary.all.label = "all lengths";
  summary.trained.label =
      absl::StrCat("trained lengths (1-", grid.trained_digits, ")");
  summary.outside.label = "longer than trained";
  summary.diagonal.label = "equal lengths";
  for (int i = 1; i <= grid.max_digits; ++i) {
    for (int j = 1; j <= grid.max_digits; ++j) {
      const int right = grid.right[i - 1][j - 1];
      Add(right, grid.samples, &summary.all);
      if (grid.trained_digits > 0) {
        const bool inside =
            i <= grid.trained_digits && j <= grid.trained_digits;
        Add(right, grid.samples, inside ? &summary.trained : &summary.outside);
      }
      if (i != j) continue;
      Add(right, grid.samples, &summary.diagonal);
      if (grid.At(i, i) >= 0.95) summary.largest_95 = i;
    }
  }
  for (GridScore* score :
       {&summary.all, &summary.trained, &summary.outside, &summary.diagonal}) {
    score->share = WilsonInterval(score->right, score->samples);
  }
  return summary;
}

std::string ShareText(const GridScore& score) {
  if (score.samples == 0) return "-";
  return absl::StrFormat("%.1f %% [%.1f, %.1f]", 100 * score.share.value,
                         100 * score.share.low, 100 * score.share.high);
}

}  // namespace ordo::report
