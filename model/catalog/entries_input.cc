#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "model/catalog/entries.h"
#include "model/catalog/extra_cost.h"

// Encodings that are added to the token embeddings.

namespace ordo::model::catalog {
namespace {

using ::ordo::training::v1::Component;

constexpr double kMaxLength = 1 << 24;
constexpr double kMaxSide = 1 << 16;
constexpr double kMaxToken = 1e7;

// A vector is looked up for each token and added.
ExtraCost CostOfAdded(const Component&, const ModelShape& shape,
                      const CostQuery& query) {
  if (query.layer != kInputLayer) return {};
  return Counted(query, 0, query.tokens * shape.width);
}

// The vector is computed: half an angle and a wave for each channel.
ExtraCost CostOfAddedWaves(const Component&, const ModelShape& shape,
                           const CostQuery& query) {
  if (query.layer != kInputLayer) return {};
  const int64_t values = query.tokens * shape.width;
  return Counted(query, 0, values + values + values / 2);
}

Entry InputEntry(std::string name, std::string text, std::string source) {
  Entry entry =
      EncodingEntry(std::move(name), std::move(text), std::move(source));
  entry.encoding.relative = false;
  entry.encoding.at_input = true;
  entry.encoding.count_cost = CostOfAdded;
  return entry;
}

Param Base() {
  return Number("base", 10000.0, {1.0, 1e9}, "Base of the frequencies.");
}

Param Columns() {
  return Integer("columns", 32, {1, kMaxSide, "columns"},
                 "Columns of the grid: position p is row floor(p / columns), "
                 "column p mod columns.");
}

Entry Sinusoidal() {
  Entry entry = InputEntry(
      "sinusoidal",
      "Sines and cosines of the position, added to the token embeddings.",
      "Vaswani et al. 2017, arXiv:1706.03762");
  entry.params = {Base()};
  entry.encoding.formula =
      "x_i[2f] + sin(i base^(-2f/C)), x_i[2f + 1] + cos(i base^(-2f/C))";
  entry.encoding.beyond = "defined; angles that training has not seen";
  entry.encoding.check_shape = CheckEvenWidth;
  entry.encoding.count_cost = CostOfAddedWaves;
  return entry;
}

int64_t LimitLearned(const Component& component) {
  return Params(component.params()).Integer("max_length");
}

int64_t CountLearned(const Component& component, const ModelShape& shape) {
  return LimitLearned(component) * shape.width;
}

Entry Learned() {
  Entry entry = InputEntry(
      "learned",
      "A learned vector for each position, added to the token embeddings.",
      "Radford et al. 2019, Language models are unsupervised multitask "
      "learners");
  entry.params = {Integer("max_length", 1024, {1, kMaxLength, "positions"},
                          "Number of positions that have a vector.")};
  entry.encoding.formula = "x_i + table[i]";
  entry.encoding.beyond = "an error: max_length positions";
  entry.encoding.parameters = "max_length C";
  entry.encoding.initial = "normal values of standard deviation 0.02";
  entry.encoding.count_parameters = CountLearned;
  entry.encoding.limit_length = LimitLearned;
  return entry;
}

int64_t LimitAxial(const Component& component) {
  const Params params(component.params());
  return params.Integer("first_size") * params.Integer("second_size");
}

int64_t CountAxial(const Component& component, const ModelShape& shape) {
  const Params params(component.params());
  const int64_t width = FirstAxialWidth(component.params(), shape.width);
  return params.Integer("first_size") * width +
         params.Integer("second_size") * (shape.width - width);
}

void CheckAxial(std::string_view field, const Component& component,
                const ModelShape& shape,
                std::vector<base::FieldViolation>* violations) {
  const int64_t width = Params(component.params()).Integer("first_width");
  if (width < shape.width) return;
  violations->push_back({ParamPath(field, "first_width"),
                         absl::StrCat("must be below model.width, which is ",
                                      shape.width, ", is ", width)});
}

Entry Axial() {
  Entry entry = InputEntry(
      "axial",
      "Axial embeddings: the place in a block and the number of the block each "
      "have a learned vector of some of the channels.",
      "Kitaev, Kaiser, Levskaya 2020, arXiv:2001.04451");
  entry.params = {
      Integer("first_size", 32, {1, kMaxSide, "positions"},
              "Positions n1 of a block."),
      Integer("second_size", 32, {1, kMaxSide, "blocks"},
              "Number n2 of blocks."),
      Integer("first_width", 0, {0, 65535, "channels"},
              "Channels d1 for the place in the block; 0 for half of them."),
  };
  entry.encoding.formula = "x_i + [first[i mod n1], second[floor(i / n1)]]";
  entry.encoding.beyond = "an error: n1 n2 positions";
  entry.encoding.parameters = "n1 d1 + n2 (C - d1)";
  entry.encoding.initial = "normal values of standard deviation 0.02";
  entry.encoding.count_parameters = CountAxial;
  entry.encoding.limit_length = LimitAxial;
  entry.encoding.check_shape = CheckAxial;
  return entry;
}

int64_t CountGridLearned(const Component& component, const ModelShape& shape) {
  return GridSize(component) * shape.width;
}

Entry GridLearned() {
  Entry entry =
      InputEntry("grid_learned",
                 "A learned vector for each cell of a grid, added to the token "
                 "embeddings.",
                 "Dosovitskiy et al. 2021, arXiv:2010.11929");
  entry.params = GridSides();
  entry.encoding.formula =
      "x_p + table[row, column]; position p is row floor(p / columns), column "
      "p mod columns";
  entry.encoding.beyond = "an error: rows * columns positions";
  entry.encoding.parameters = "rows columns C";
  entry.encoding.initial = "normal values of standard deviation 0.02";
  entry.encoding.count_parameters = CountGridLearned;
  entry.encoding.limit_length = GridSize;
  return entry;
}

void CheckGridSinusoidal(std::string_view field, const Component& /*component*/,
                         const ModelShape& shape,
                         std::vector<base::FieldViolation>* violations) {
  if (shape.width % 4 == 0) return;
  violations->push_back(
      {absl::StrCat(std::string(field), ".name"),
       absl::StrCat("grid_sinusoidal has a sine and a cosine for rows and for "
                    "columns: model.width must be a multiple of 4, is ",
                    shape.width)});
}

Entry GridSinusoidal() {
  Entry entry = InputEntry(
      "grid_sinusoidal",
      "Sines and cosines for a grid: half of the channels from the row, half "
      "from the column.",
      "He et al. 2022, arXiv:2111.06377");
  entry.params = {Base(), Columns()};
  entry.encoding.formula =
      "x_p + [sinusoid(floor(p / columns)), sinusoid(p mod columns)], each of "
      "width C / 2";
  entry.encoding.beyond = "defined: further rows";
  entry.encoding.check_shape = CheckGridSinusoidal;
  entry.encoding.count_cost = CostOfAddedWaves;
  return entry;
}

int64_t CountAbacus(const Component& component, const ModelShape& shape) {
  return Params(component.params()).Integer("rows") * shape.width;
}

void CheckAbacus(std::string_view field, const Component& component,
                 const ModelShape& /*shape*/,
                 std::vector<base::FieldViolation>* violations) {
  const Params params(component.params());
  if (params.Integer("rows") < params.Integer("max_offset") + 2) {
    violations->push_back({ParamPath(field, "rows"),
                           absl::StrCat("must be at least max_offset + 2 = ",
                                        params.Integer("max_offset") + 2,
                                        ", is ", params.Integer("rows"))});
  }
  const std::vector<double> digits = params.Numbers("digits");
  if (digits.empty()) {
    violations->push_back({ParamPath(field, "digits"),
                           "must have at least one token id; leave it out for "
                           "those of the arithmetic tasks"});
  }
  for (size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] == std::floor(digits[i])) continue;
    violations->push_back(
        {ParamPath(field, "digits"),
         absl::StrCat("element ", i, " must be an integer, is ", digits[i])});
  }
}

Entry Abacus() {
  Entry entry = InputEntry(
      "abacus",
      "Abacus: a learned vector for the place of a digit in its number, added "
      "to the token embeddings.",
      "McLeish et al. 2024, arXiv:2405.17399");
  Param digits = Numbers("digits", {0, kMaxToken, "token ids"},
                         "Token ids of the digits; the default is that of the "
                         "arithmetic tasks.");
  digits.default_value = std::vector<double>{4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
  entry.params = {
      std::move(digits),
      Integer("rows", 1024, {2, kMaxLength, "rows"},
              "Rows of the table: 0 for tokens that are no digits, then one "
              "for each place."),
      Integer("max_offset", 99, {0, kMaxLength, "digits"},
              "Largest offset that training adds to the places of "
              "a batch."),
  };
  entry.encoding.formula =
      "x_i + table[p_i], p_i = 0 or, for a digit, its place 1, 2, ... in its "
      "number; in training plus an offset, uniform in 0..max_offset";
  entry.encoding.beyond =
      "defined for numbers of up to rows - 1 digits; those of rows that "
      "training reaches by its offset are trained";
  entry.encoding.parameters = "rows C";
  entry.encoding.initial = "normal values of standard deviation 0.02";
  entry.encoding.count_parameters = CountAbacus;
  entry.encoding.check_shape = CheckAbacus;
  entry.encoding.relative = true;
  entry.encoding.takes_positions = false;
  return entry;
}

}  // namespace

int64_t FirstAxialWidth(const ParamMap& params, int width) {
  const int64_t given = Params(params).Integer("first_width");
  return given == 0 ? width / 2 : given;
}

std::vector<Param> GridSides() {
  return {Integer("rows", 32, {1, kMaxSide, "rows"}, "Rows of the grid."),
          Columns()};
}

int64_t GridSize(const Component& component) {
  const Params params(component.params());
  return params.Integer("rows") * params.Integer("columns");
}

std::vector<Entry> InputEntries() {
  return {Sinusoidal(),  Learned(),        Axial(),
          GridLearned(), GridSinusoidal(), Abacus()};
}

}  // namespace ordo::model::catalog
