#include "report/runs/cells.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "report/color_map.h"
#include "report/json_values.h"

namespace ordo::report::runs {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

constexpr char kMaxPrefix[] = "max_";

absl::StatusOr<double> Number(const Value& value, const std::string& field) {
  if (value.kind_case() != Value::kNumberValue ||
      !std::isfinite(value.number_value())) {
    return base::InvalidField(field, "must be a finite number");
  }
  return value.number_value();
}

// What both operands are counted in; empty where they differ.
std::string KindOf(const Struct& result) {
  std::string kind;
  for (const auto& [name, value] : result.fields()) {
    if (!absl::StartsWith(name, kMaxPrefix)) continue;
    if (!kind.empty()) return "";
    kind = name.substr(sizeof(kMaxPrefix) - 1);
  }
  return kind;
}

// Lists of shares: a row for each length of the first operand.
absl::Status ReadOperands(const Struct& result, Cells* cells) {
  const std::string kind = KindOf(result);
  if (kind.empty()) return absl::OkStatus();
  const ListValue& rows = JsonField(result, "cells").list_value();
  const int size = rows.values(0).list_value().values_size();
  for (int i = 0; i < rows.values_size(); ++i) {
    const std::string field = absl::StrCat("cells[", i, "]");
    const ListValue& row = rows.values(i).list_value();
    if (row.values_size() != size || size == 0) {
      return base::InvalidField(field, "must be as long as the first");
    }
    std::vector<double>& shares = cells->shares.emplace_back();
    for (int j = 0; j < size; ++j) {
      ORDO_ASSIGN_OR_RETURN(
          shares.emplace_back(),
          Number(row.values(j), absl::StrCat(field, "[", j, "]")));
    }
  }
  cells->x_label = kind + " of B";
  cells->y_label = kind + " of A";
  const auto trained =
      static_cast<int>(JsonField(result, "trained_" + kind).number_value());
  cells->trained_columns = std::min(trained, size);
  cells->trained_rows = std::min(trained, rows.values_size());
  return absl::OkStatus();
}

// The name of a cell's row, and what rows are: the one field that is no number.
std::pair<std::string, std::string> RowOf(const Struct& cell) {
  for (const auto& [name, value] : cell.fields()) {
    if (value.kind_case() == Value::kStringValue) {
      return {name, value.string_value()};
    }
  }
  return {};
}

// Objects with a length, a recall and a row.
absl::Status ReadRecall(const Struct& result, Cells* cells) {
  const ListValue& all = JsonField(result, "cells").list_value();
  std::map<int64_t, std::map<std::string, double>> recalls;
  for (int i = 0; i < all.values_size(); ++i) {
    const std::string field = absl::StrCat("cells[", i, "]");
    const Struct& cell = all.values(i).struct_value();
    ORDO_ASSIGN_OR_RETURN(const double length,
                          Number(JsonField(cell, "length"), field + ".length"));
    ORDO_ASSIGN_OR_RETURN(const double recall,
                          Number(JsonField(cell, "recall"), field + ".recall"));
    const auto [what, name] = RowOf(cell);
    cells->y_label = what;
    auto& names = cells->row_names;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
    recalls[static_cast<int64_t>(length)][name] = recall;
  }
  const double trained = JsonField(result, "trained_length").number_value();
  cells->x_label = "length";
  cells->shares.resize(cells->row_names.size());
  for (const auto& [length, by_name] : recalls) {
    if (by_name.size() != cells->row_names.size()) {
      *cells = Cells();
      return absl::OkStatus();
    }
    cells->columns.push_back(absl::StrCat(length));
    if (static_cast<double>(length) <= trained) ++cells->trained_columns;
    for (size_t row = 0; row < cells->row_names.size(); ++row) {
      cells->shares[row].push_back(by_name.at(cells->row_names[row]));
    }
  }
  cells->trained_rows = static_cast<int>(cells->row_names.size());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Cells> ParseCells(std::string_view json) {
  Struct result;
  ORDO_RETURN_IF_ERROR(base::ReadMessage(json, base::TextForm::kJson, &result));
  Cells cells;
  const ListValue& list = JsonField(result, "cells").list_value();
  if (list.values_size() == 0) return cells;
  ORDO_RETURN_IF_ERROR(list.values(0).kind_case() == Value::kListValue
                           ? ReadOperands(result, &cells)
                           : ReadRecall(result, &cells));
  return cells;
}

Figure CellPlot(const std::string& title, const Cells& cells) {
  constexpr double kPerCent = 100;
  ColorMap map;
  map.title = title;
  map.x_label = cells.x_label;
  map.y_label = cells.y_label;
  map.value_label = "right (%)";
  map.rows = cells.shares;
  for (std::vector<double>& row : map.rows) {
    for (double& share : row) share *= kPerCent;
  }
  map.high = kPerCent;
  map.columns = cells.columns;
  map.row_names = cells.row_names;
  map.outlined_columns = cells.trained_columns;
  map.outlined_rows = cells.trained_rows;
  return MapPlot(map);
}

}  // namespace ordo::report::runs
