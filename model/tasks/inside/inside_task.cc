#include "model/tasks/inside/inside_task.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/text/scoring/means.h"

namespace ordo::model::tasks::inside {
namespace {

using nlohmann::ordered_json;
using text::scoring::Mean;
using text::scoring::MeanOf;
using Kind = InsideQuery::Kind;

// Before the number of the layer in a name.
constexpr char kOfLayer[] = "_l";

// Finite values, one of each text that has it.
using Values = std::vector<double>;

void AddFinite(double value, Values* values) {
  if (std::isfinite(value)) values->push_back(value);
}

// As a cell of csv; empty where it is not known.
std::string ErrorCell(const Mean& mean) {
  return std::isfinite(mean.standard_error)
             ? absl::StrFormat("%.6g", mean.standard_error)
             : "";
}

// "shift_attention_l2" is shift_attention of layer 2.
struct NumberName {
  std::string what;
  int layer = 0;
};

NumberName Parse(const std::string& name) {
  const size_t place = name.rfind(kOfLayer);
  NumberName parsed{name, 0};
  if (place == std::string::npos) return parsed;
  if (!absl::SimpleAtoi(name.substr(place + 2), &parsed.layer)) {
    return {name, 0};
  }
  parsed.what = name.substr(0, place);
  return parsed;
}

// By layer, then by name.
using LayerValues = std::map<int, std::map<std::string, Values>>;

LayerValues ValuesOf(const std::vector<Inside>& all) {
  LayerValues values;
  for (const Inside& one : all) {
    for (const auto& [name, value] : one.numbers) {
      const NumberName parsed = Parse(name);
      AddFinite(value, &values[parsed.layer][parsed.what]);
    }
  }
  return values;
}

// Of each layer, at each distance, as far as any of the curves goes.
std::map<int, std::vector<Values>> CurvesOf(const std::vector<Inside>& all) {
  std::map<int, std::vector<Values>> curves;
  for (const Inside& one : all) {
    for (const InsideCurve& curve : one.curves) {
      std::vector<Values>& values = curves[curve.layer];
      values.resize(std::max(values.size(), curve.values.size()));
      for (size_t i = 0; i < curve.values.size(); ++i) {
        AddFinite(curve.values[i], &values[i]);
      }
    }
  }
  return curves;
}

// Numbers, from 1, of the tokens that stand in a line of a title.
std::vector<int> TitlesIn(const std::vector<std::string>& tokens) {
  std::string text;
  std::vector<size_t> begins;
  for (const std::string& token : tokens) {
    begins.push_back(text.size());
    text += token;
  }
  std::vector<int> titles;
  for (size_t i = 0; i < tokens.size(); ++i) {
    // What a token begins with may be the end of the line before.
    size_t at = begins[i];
    const size_t token_end = at + tokens[i].size();
    while (at < token_end && text[at] == '\n') ++at;
    if (at == token_end) continue;
    const size_t before =
        at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    const size_t begin = before == std::string::npos ? 0 : before + 1;
    const size_t end = std::min(text.find('\n', at), text.size());
    const absl::string_view line = absl::StripAsciiWhitespace(
        absl::string_view(text).substr(begin, end - begin));
    if (line.size() > 1 && absl::StartsWith(line, "=") &&
        absl::EndsWith(line, "=")) {
      titles.push_back(static_cast<int>(i) + 1);
    }
  }
  return titles;
}

class InsideTask : public EvaluationTask {
 public:
  InsideTask(InsideQuery query, std::unique_ptr<Rows> rows)
      : query_(std::move(query)), rows_(std::move(rows)) {}

  const Tokenizer& tokenizer() const override { return rows_->tokenizer(); }
  int64_t size() const override { return rows_->size(); }
  Measure measure() const override { return Measure::kInside; }
  const InsideQuery* inside() const override { return &query_; }
  int PromptLength(int64_t /*index*/) const override {
    return rows_->max_length();
  }
  std::string data_fingerprint() const override {
    return rows_->data_fingerprint();
  }
  std::string ItemId(uint64_t seed, int64_t index) const override {
    return rows_->Id(seed, index);
  }

  absl::StatusOr<Question> Generate(uint64_t seed,
                                    int64_t index) const override {
    auto row = rows_->Get(seed, index);
    if (!row.ok()) return row.status();
    Question question;
    question.prompt = *std::move(row);
    return question;
  }

  Scores Score(const Marked& marked) const override {
    Scores scores;
    scores.details = About(marked);
    AddNumbers(ValuesOf(marked.inside), &scores);
    AddMaps(marked, &scores);
    AddCurves(marked, &scores);
    return scores;
  }

 private:
  ordered_json About(const Marked& marked) const {
    ordered_json about;
    if (!data_fingerprint().empty()) {
      about["data_fingerprint"] = data_fingerprint();
    }
    about["texts"] = marked.inside.size();
    about["longest"] = rows_->max_length();
    if (query_.kind == Kind::kShifts) {
      about["shift"] = query_.shift;
      about["adds_tokens"] = query_.begin.has_value();
    }
    return about;
  }

  // Of the first row. Without them a map is a map all the same.
  void AddLines(uint64_t seed, ordered_json* about) const {
    const auto row = rows_->Get(seed, 0);
    if (!row.ok()) return;
    std::vector<std::string> tokens;
    std::vector<int> newlines;
    for (const int64_t token : *row) {
      tokens.push_back(tokenizer().Decode({token}));
      if (absl::StrContains(tokens.back(), "\n")) {
        newlines.push_back(static_cast<int>(tokens.size()));
      }
    }
    (*about)["newlines"] = newlines;
    (*about)["titles"] = TitlesIn(tokens);
  }

  static void AddNumbers(const LayerValues& values, Scores* scores) {
    ordered_json layers = ordered_json::array();
    scores->csv = "quantity,layer,mean,standard_error,texts\n";
    scores->markdown =
        "| quantity | layer | mean | standard error | texts |\n"
        "|---|---:|---:|---:|---:|\n";
    for (const auto& [layer, of_layer] : values) {
      ordered_json row = {{"layer", layer}};
      for (const auto& [what, of_texts] : of_layer) {
        if (of_texts.empty()) continue;
        const Mean mean = MeanOf(of_texts);
        const std::string name = absl::StrCat(what, kOfLayer, layer);
        scores->metrics[name] = mean.value;
        row[what] = {{"mean", mean.value}, {"texts", mean.num_items}};
        std::string error;
        if (std::isfinite(mean.standard_error)) {
          scores->standard_errors[name] = mean.standard_error;
          row[what]["standard_error"] = mean.standard_error;
          error = absl::StrFormat("%.2g", mean.standard_error);
        }
        absl::StrAppendFormat(&scores->csv, "%s,%d,%.9g,%s,%d\n", what, layer,
                              mean.value, ErrorCell(mean), mean.num_items);
        absl::StrAppendFormat(&scores->markdown,
                              "| %s | %d | %.5g | %s | %d |\n", what, layer,
                              mean.value, error, mean.num_items);
      }
      layers.push_back(std::move(row));
    }
    scores->details["layers"] = std::move(layers);
  }

  void AddMaps(const Marked& marked, Scores* scores) const {
    std::string lines;
    for (const Inside& one : marked.inside) {
      for (const InsideMap& map : one.maps) {
        for (size_t i = 0; i < map.values.size(); ++i) {
          if (map.values[i] == 0) continue;
          absl::StrAppendFormat(&lines, "%s,%d,%d,%d,%d,%.6g\n", map.source,
                                map.layer, map.head, i / map.size + 1,
                                i % map.size + 1, map.values[i]);
        }
      }
    }
    if (lines.empty()) return;
    scores->files[kMapsFile] =
        absl::StrCat("source,layer,head,query,key,value\n", lines);
    AddLines(marked.seed, &scores->details);
  }

  static void AddCurves(const Marked& marked, Scores* scores) {
    std::string lines;
    for (const auto& [layer, values] : CurvesOf(marked.inside)) {
      for (size_t i = 0; i < values.size(); ++i) {
        if (values[i].empty()) continue;
        const Mean mean = MeanOf(values[i]);
        absl::StrAppendFormat(&lines, "%d,%d,%.6g,%d,%s\n", layer, i,
                              mean.value, mean.num_items, ErrorCell(mean));
      }
    }
    if (lines.empty()) return;
    scores->files[kCurvesFile] =
        absl::StrCat("layer,distance,value,texts,standard_error\n", lines);
  }

  const InsideQuery query_;
  const std::unique_ptr<Rows> rows_;
};

}  // namespace

std::unique_ptr<EvaluationTask> MakeInside(InsideQuery query,
                                           std::unique_ptr<Rows> rows) {
  query.begin = rows->begin_token();
  return std::make_unique<InsideTask>(std::move(query), std::move(rows));
}

}  // namespace ordo::model::tasks::inside
