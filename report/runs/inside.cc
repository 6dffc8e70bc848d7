#include "report/runs/inside.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/status/details.h"
#include "base/status/status.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "report/color_map.h"
#include "report/json_values.h"
#include "report/lines.h"
#include "report/stats/distributions.h"

namespace ordo::report::runs {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

// Of the intervals.
constexpr double kLevel = 0.95;

// Queries of a map, more than a trainer makes.
constexpr int kMaxMapSize = 1000;

absl::Status BadLine(const char* file, size_t number) {
  return absl::InvalidArgumentError(
      absl::StrCat(file, " line ", number, " is not as a trainer writes it"));
}

// The lines behind the header, without empty ones.
std::vector<std::string> LinesOf(const std::string& csv) {
  std::vector<std::string> lines = absl::StrSplit(csv, '\n', absl::SkipEmpty());
  if (!lines.empty()) lines.erase(lines.begin());
  return lines;
}

// source,layer,head,query,key,value
struct MapLine {
  std::string source;
  int layer = 0;
  int head = 0;
  int query = 0;
  int key = 0;
  double value = 0;
};

bool Parse(const std::string& line, MapLine* parsed) {
  const std::vector<std::string> cells = absl::StrSplit(line, ',');
  if (cells.size() != 6) return false;
  parsed->source = cells[0];
  return absl::SimpleAtoi(cells[1], &parsed->layer) &&
         absl::SimpleAtoi(cells[2], &parsed->head) &&
         absl::SimpleAtoi(cells[3], &parsed->query) &&
         absl::SimpleAtoi(cells[4], &parsed->key) &&
         absl::SimpleAtod(cells[5], &parsed->value) && parsed->query >= 1 &&
         parsed->query <= kMaxMapSize && parsed->key >= 1 &&
         parsed->key <= kMaxMapSize;
}

// A square as large as the largest number of a query or key.
absl::Status ReadMaps(const std::string& csv, Inside* inside) {
  const std::vector<std::string> lines = LinesOf(csv);
  std::vector<MapLine> all;
  int size = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!Parse(lines[i], &all.emplace_back())) return BadLine(kMapsFile, i + 2);
    size = std::max({size, all.back().query, all.back().key});
  }
  for (const MapLine& line : all) {
    const auto known = std::find_if(
        inside->maps.begin(), inside->maps.end(), [&](const SeenMap& map) {
          return map.source == line.source && map.layer == line.layer &&
                 map.head == line.head;
        });
    SeenMap& map =
        known == inside->maps.end() ? inside->maps.emplace_back() : *known;
    if (map.rows.empty()) {
      map.source = line.source;
      map.layer = line.layer;
      map.head = line.head;
      map.rows.assign(size, std::vector<double>(size, 0));
    }
    map.rows[line.query - 1][line.key - 1] = line.value;
  }
  return absl::OkStatus();
}

SeenMean MeanOf(double mean, double standard_error, double texts) {
  if (!(standard_error > 0 && texts >= 2)) return {mean};
  return {mean, standard_error *
                    stats::StudentTQuantile((1 + kLevel) / 2, texts - 1)};
}

// layer,distance,value,texts,standard_error
struct CurveLine {
  int layer = 0;
  int distance = 0;
  SeenMean mean;
};

bool Parse(const std::string& line, CurveLine* parsed) {
  const std::vector<std::string> cells = absl::StrSplit(line, ',');
  // Reports of earlier releases have no errors.
  if (cells.size() != 4 && cells.size() != 5) return false;
  int texts = 0;
  double value = 0, error = 0;
  // That of a single text is empty.
  if (cells.size() == 5 && !cells[4].empty() &&
      !absl::SimpleAtod(cells[4], &error)) {
    return false;
  }
  if (!absl::SimpleAtoi(cells[0], &parsed->layer) ||
      !absl::SimpleAtoi(cells[1], &parsed->distance) ||
      !absl::SimpleAtod(cells[2], &value) ||
      !absl::SimpleAtoi(cells[3], &texts)) {
    return false;
  }
  parsed->mean = MeanOf(value, error, texts);
  return true;
}

absl::Status ReadCurves(const std::string& csv, Inside* inside) {
  const std::vector<std::string> lines = LinesOf(csv);
  for (size_t i = 0; i < lines.size(); ++i) {
    CurveLine line;
    if (!Parse(lines[i], &line)) return BadLine(kCurvesFile, i + 2);
    inside->curves[line.layer][line.distance] = line.mean;
  }
  return absl::OkStatus();
}

std::vector<int> Integers(const Value& list) {
  std::vector<int> integers;
  for (const Value& value : list.list_value().values()) {
    integers.push_back(static_cast<int>(value.number_value()));
  }
  return integers;
}

absl::Status ReadNumbers(const Struct& result, Inside* inside) {
  const ListValue& layers = JsonField(result, "layers").list_value();
  for (int i = 0; i < layers.values_size(); ++i) {
    const Struct& row = layers.values(i).struct_value();
    const Value& layer = JsonField(row, "layer");
    if (layer.kind_case() != Value::kNumberValue) {
      return base::InvalidField(absl::StrCat("layers[", i, "].layer"),
                                "must be a number");
    }
    for (const auto& [name, value] : row.fields()) {
      const Struct& seen = value.struct_value();
      const Value& mean = JsonField(seen, "mean");
      if (mean.kind_case() != Value::kNumberValue) continue;
      inside->numbers[name][static_cast<int>(layer.number_value())] = MeanOf(
          mean.number_value(), JsonField(seen, "standard_error").number_value(),
          JsonField(seen, "texts").number_value());
    }
  }
  inside->newlines = Integers(JsonField(result, "newlines"));
  inside->titles = Integers(JsonField(result, "titles"));
  return absl::OkStatus();
}

// Of what is never negative: its interval is that of its logarithm, to first
// order.
LinePoint PointOfSize(int x, const SeenMean& seen) {
  if (!(seen.mean > 0) || !std::isfinite(seen.half_width)) {
    return {static_cast<double>(x), seen.mean};
  }
  const double factor = std::exp(seen.half_width / seen.mean);
  return {static_cast<double>(x), seen.mean, seen.mean / factor,
          seen.mean * factor};
}

LinePoint PointOfCosine(int x, const SeenMean& seen) {
  if (!std::isfinite(seen.half_width)) {
    return {static_cast<double>(x), seen.mean};
  }
  return {static_cast<double>(x), seen.mean,
          std::max(-1.0, seen.mean - seen.half_width),
          std::min(1.0, seen.mean + seen.half_width)};
}

// A line for each of the names that there are, by layer.
Lines ByLayer(const Inside& inside,
              const std::vector<std::pair<std::string, std::string>>& names) {
  Lines lines;
  lines.x_label = "layer";
  lines.has_marks = true;
  for (const auto& [name, title] : names) {
    const auto found = inside.numbers.find(name);
    if (found == inside.numbers.end()) continue;
    Line& line = lines.lines.emplace_back();
    line.title = title;
    for (const auto& [layer, seen] : found->second) {
      line.points.push_back(PointOfSize(layer, seen));
    }
  }
  return lines;
}

// Of stability.
void AddChanges(const Inside& inside, const std::string& title,
                const std::string& stem, std::vector<NamedFigure>* figures) {
  Lines lines =
      ByLayer(inside, {{"add_attention", "attention, tokens added"},
                       {"shift_attention", "attention, ids shifted"},
                       {"add_positions", "positions, tokens added"},
                       {"shift_positions", "positions, ids shifted"}});
  lines.title = title;
  lines.y_label = "mean change (positions: relative)";
  lines.note =
      "attention: weights; positions: products; near 1e-8 in fp32: rounding; "
      "bars: 95 % intervals";
  lines.is_logarithmic = true;
  if (!CanDraw(lines)) return;
  figures->push_back(
      {absl::StrCat(stem, "-changes"),
       absl::StrCat(
           title,
           ": what changes at a layer when a text begins behind marks, or at "
           "later position ids: attention's weights on the average of queries "
           "and keys, and products of positions relative to their size. In "
           "fp32 a change near 1e-8 is rounding; no change at all has no place "
           "on the axis. Bars: 95 % intervals of "
           "the means over texts, by Student's t."),
       LinePlot(lines)});
}

// Of position_similarity.
void AddSimilarities(const Inside& inside, const std::string& title,
                     const std::string& stem,
                     std::vector<NamedFigure>* figures) {
  Lines curves;
  curves.title = title;
  curves.x_label = "distance (tokens)";
  curves.y_label = "cosine of the positions";
  curves.note = "mean over heads, places and texts; bands: 95 % intervals";
  for (const auto& [layer, points] : inside.curves) {
    Line& line = curves.lines.emplace_back();
    line.title = absl::StrCat("layer ", layer);
    for (const auto& [distance, seen] : points) {
      line.points.push_back(PointOfCosine(distance, seen));
    }
  }
  if (CanDraw(curves)) {
    figures->push_back(
        {absl::StrCat(stem, "-similarity"),
         absl::StrCat(title,
                      ": cosine of the positions that turn queries and keys, "
                      "by their distance; means over heads, places and texts. "
                      "Bands: their 95 % intervals over texts, by Student's "
                      "t."),
         LinePlot(curves)});
  }
  Lines changes = ByLayer(
      inside, {{"state_change", "change of products"}, {"state_norm", "norm"}});
  if (!CanDraw(changes)) return;
  changes.title = title;
  changes.y_label = "positions relative to layer 1";
  changes.note =
      "as in layer 1: a change of 0, a norm of 1; bars: 95 % intervals";
  figures->push_back(
      {absl::StrCat(stem, "-state"),
       absl::StrCat(title,
                    ": how far products of positions are from those of layer "
                    "1, relative to their size, and the positions' norm over "
                    "that of layer 1. Bars: 95 % intervals of the means over "
                    "texts, by Student's t."),
       LinePlot(changes)});
}

std::string NameOf(const SeenMap& map) {
  std::string name = absl::StrCat("layer ", map.layer);
  if (map.head > 0) absl::StrAppend(&name, ", head ", map.head);
  if (map.source == "position_only") name += ", bias alone";
  return name;
}

// The largest weight of a query that has a choice.
double LargestWeight(const SeenMap& map) {
  double largest = 0;
  for (size_t i = 1; i < map.rows.size(); ++i) {
    for (const double value : map.rows[i]) largest = std::max(largest, value);
  }
  return largest > 0 ? largest : 1;
}

NamedFigure MapFigure(const Inside& inside, const SeenMap& map,
                      const std::string& title) {
  const bool is_similarity = map.source == "similarity";
  ColorMap colors;
  colors.title = absl::StrCat(title, ", ", NameOf(map));
  colors.rows = map.rows;
  colors.x_label = is_similarity ? "position" : "key";
  colors.y_label = is_similarity ? "position" : "query";
  colors.value_label =
      absl::StrCat(is_similarity ? "cosine" : "weight in the first text",
                   map.head == 0 ? ", mean over heads" : "");
  colors.low = is_similarity ? -1 : 0;
  colors.high = is_similarity ? 1 : LargestWeight(map);
  std::string caption = colors.title;
  if (is_similarity) {
    caption += ": cosine of the positions of two tokens, mean over heads.";
    return {"", caption, MapPlot(colors)};
  }
  absl::StrAppend(&caption, ": attention's weights in the first text",
                  map.head == 0 ? ", mean over heads." : ".");
  colors.marked = inside.newlines;
  colors.marked_otherwise = inside.titles;
  if (!inside.newlines.empty() || !inside.titles.empty()) {
    colors.x_label += " (blue: ends of lines; orange: titles)";
    caption += " Blue: ends of lines; orange: titles.";
  }
  return {"", caption, MapPlot(colors)};
}

}  // namespace

bool LooksInside(std::string_view task) {
  return task == "stability" || task == "attention_map" ||
         task == "position_similarity";
}

absl::StatusOr<Inside> ParseInside(const InsideFiles& files) {
  Struct result;
  ORDO_RETURN_IF_ERROR(
      base::ReadMessage(files.result, base::TextForm::kJson, &result));
  Inside inside;
  ORDO_RETURN_IF_ERROR(ReadNumbers(result, &inside));
  ORDO_RETURN_IF_ERROR(ReadMaps(files.maps, &inside));
  ORDO_RETURN_IF_ERROR(ReadCurves(files.curves, &inside));
  return inside;
}

std::vector<NamedFigure> InsideFigures(const Inside& inside,
                                       const std::string& title,
                                       const std::string& stem) {
  std::vector<NamedFigure> figures;
  AddChanges(inside, title, stem, &figures);
  AddSimilarities(inside, title, stem, &figures);
  const size_t num_maps = std::min(inside.maps.size(), kMaxMapFigures);
  for (size_t i = 0; i < num_maps; ++i) {
    figures.push_back(MapFigure(inside, inside.maps[i], title));
    figures.back().name = absl::StrCat(stem, "-map-", i + 1);
  }
  return figures;
}

}  // namespace ordo::report::runs
