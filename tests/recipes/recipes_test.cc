// The recipes of model/recipes against Ordo and against the sources: each is
// resolved, and the models of those at the size of the papers have the
// parameters that model/recipes/published.txt says.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/cost/cost.h"
#include "proto/ordo/jobs/v1/job_spec.pb.h"
#include "services/spec/expand.h"
#include "services/spec/resolve_job_spec.h"

namespace ordo::tests::recipes {
namespace {

using jobs::v1::JobSpec;
using services::spec::Part;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kRoot[] = "model/recipes";
constexpr char kPaper[] = "paper";
constexpr size_t kMaxBytes = 1 << 20;

// A recipe as it is resolved.
struct Recipe {
  std::string folder;
  // Of its file, without the extension.
  std::string stem;
  JobSpec spec;
  // Itself, where it has no parts.
  std::vector<Part> parts;
};

// The checkpoints that recipes begin with are pushed by whoever runs them:
// their models are filled in as the scheduler would.
void FillModel(JobSpec* part,
               std::vector<base::FieldViolation>* /*violations*/) {
  if (part->model().from() != "jobs/llama-2-7b") return;
  auto* model = part->mutable_model();
  model->set_layers(32);
  model->set_width(4096);
  model->set_heads(32);
  model->set_key_value_heads(32);
  model->set_head_width(128);
  model->set_mlp_width(11008);
  model->set_vocabulary_size(32000);
  model->set_init_std(0.02);
}

Recipe Resolved(const std::string& folder, const std::string& stem,
                const JobSpec& spec) {
  Recipe recipe{folder, stem, spec, {}};
  if (services::spec::HasParts(spec.kind())) {
    auto expansion = services::spec::Expand(spec, {FillModel});
    ORDO_EXPECT_OK(expansion) << folder << "/" << stem;
    if (expansion.ok()) recipe.parts = std::move(expansion->parts);
    return recipe;
  }
  auto resolved = services::spec::ResolveJobSpec(spec);
  ORDO_EXPECT_OK(resolved) << folder << "/" << stem;
  if (resolved.ok()) {
    Part part;
    part.spec = *std::move(resolved);
    recipe.parts.push_back(std::move(part));
  }
  return recipe;
}

std::vector<std::string> NamesIn(const std::string& folder) {
  base::PosixFilesystem files;
  auto names = files.List(folder);
  ORDO_EXPECT_OK(names);
  return names.ok() ? *names : std::vector<std::string>();
}

std::string TextOf(const std::string& path) {
  base::PosixFilesystem files;
  auto text = base::ReadFile(files, path, kMaxBytes);
  ORDO_EXPECT_OK(text);
  return text.ok() ? *text : "";
}

std::vector<Recipe> Load() {
  std::vector<Recipe> recipes;
  for (const std::string& folder : NamesIn(kRoot)) {
    if (absl::StrContains(folder, ".")) continue;
    const std::string path = base::JoinPath(kRoot, folder);
    for (const std::string& name : NamesIn(path)) {
      if (!absl::EndsWith(name, ".yaml")) continue;
      JobSpec spec;
      ORDO_EXPECT_OK(base::ReadMessage(TextOf(base::JoinPath(path, name)),
                                       base::TextForm::kYaml, &spec))
          << path << "/" << name;
      recipes.push_back(Resolved(
          folder, std::string(absl::StripSuffix(name, ".yaml")), spec));
    }
  }
  return recipes;
}

const std::vector<Recipe>& Recipes() {
  static const auto* const recipes = new std::vector<Recipe>(Load());
  return *recipes;
}

// A line of published.txt.
struct Row {
  std::string recipe;
  std::string row;
  // Why, where the recipe leaves it out.
  std::string absent;
  int64_t parameters = 0;
  // 0: none is printed.
  double printed = 0;
  double within = 0;
  double unit = 1;
};

void ReadPrinted(const std::vector<std::string>& cells, Row* row) {
  const std::vector<std::string> number =
      absl::StrSplit(cells[3], ' ', absl::SkipEmpty());
  ASSERT_THAT(number, SizeIs(2)) << cells[3];
  ASSERT_TRUE(absl::SimpleAtod(number[0], &row->printed)) << cells[3];
  ASSERT_TRUE(absl::SimpleAtod(cells[4], &row->within)) << cells[4];
  ASSERT_TRUE(number[1] == "M" || number[1] == "Mi") << cells[3];
  row->unit = number[1] == "M" ? 1e6 : 1 << 20;
}

void ReadRow(const std::string& line, Row* row) {
  std::vector<std::string> cells = absl::StrSplit(line, '|');
  for (std::string& cell : cells) absl::StripAsciiWhitespace(&cell);
  ASSERT_GE(cells.size(), 3u) << line;
  row->recipe = cells[0];
  row->row = cells[1];
  if (cells[2] == "absent") {
    ASSERT_THAT(cells, SizeIs(4)) << line;
    row->absent = cells[3];
    return;
  }
  ASSERT_TRUE(absl::SimpleAtoi(cells[2], &row->parameters)) << line;
  if (cells.size() == 3) return;
  ASSERT_THAT(cells, SizeIs(5)) << line;
  ReadPrinted(cells, row);
}

std::vector<Row> Published() {
  std::vector<Row> rows;
  const std::string text = TextOf(base::JoinPath(kRoot, "published.txt"));
  for (const absl::string_view line :
       absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    if (line.front() == '#') continue;
    Row row;
    ReadRow(std::string(line), &row);
    rows.push_back(row);
  }
  return rows;
}

// Whether the part is what the row names.
bool IsOf(const Recipe& recipe, const Part& part, const Row& row) {
  if (row.recipe != recipe.stem || !row.absent.empty()) return false;
  if (recipe.spec.kind() != JobSpec::SWEEP) return part.label == row.row;
  const std::vector<std::string> words =
      absl::StrSplit(row.row, ' ', absl::SkipEmpty());
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return absl::StrContains(part.label, word);
  });
}

int64_t ParametersOf(const JobSpec& spec) {
  model::cost::CostSubject subject{spec.model(), spec.encoding()};
  if (spec.training().has_lora()) subject.lora = &spec.training().lora();
  return model::cost::CountCost(subject, {}).whole.parameters;
}

std::string Where(const Recipe& recipe, const Part& part) {
  return absl::StrCat(recipe.stem, ": ", part.label);
}

TEST(RecipesTest, EachIsOneThatOrdoTakes) {
  std::map<std::string, int> of_folder;
  for (const Recipe& recipe : Recipes()) {
    EXPECT_FALSE(recipe.parts.empty()) << recipe.folder << "/" << recipe.stem;
    ++of_folder[recipe.folder];
  }
  EXPECT_GT(of_folder[kPaper], 0);
  EXPECT_GT(of_folder["small"], 0);
}

// All can be submitted to one service, and are found by the file's name.
TEST(RecipesTest, NamesAreThoseOfTheFiles) {
  std::set<std::string> names;
  for (const Recipe& recipe : Recipes()) {
    const bool is_paper = recipe.folder == kPaper;
    EXPECT_EQ(recipe.spec.name(),
              is_paper ? recipe.stem : absl::StrCat("small-", recipe.stem));
    EXPECT_TRUE(names.insert(recipe.spec.name()).second) << recipe.spec.name();
  }
}

TEST(RecipesTest, ModelsHaveTheParametersOfTheSources) {
  const std::vector<Row> rows = Published();
  for (const Recipe& recipe : Recipes()) {
    if (recipe.folder != kPaper) continue;
    for (const Part& part : recipe.parts) {
      if (part.spec.kind() != JobSpec::TRAIN) continue;
      std::vector<Row> own;
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(own),
                   [&](const Row& row) { return IsOf(recipe, part, row); });
      ASSERT_THAT(own, SizeIs(1)) << Where(recipe, part);
      EXPECT_EQ(ParametersOf(part.spec), own[0].parameters)
          << Where(recipe, part);
    }
  }
}

TEST(RecipesTest, ParametersAreThosePrinted) {
  for (const Row& row : Published()) {
    if (row.printed == 0) continue;
    const double own = static_cast<double>(row.parameters) / row.unit;
    EXPECT_LE(std::abs(own - row.printed), row.within)
        << row.recipe << ": " << row.row;
  }
}

// What a source's table names is there, or it is said why not.
TEST(RecipesTest, RowsOfTheSourcesAreThereOrSaidToBeAbsent) {
  std::map<std::string, const Recipe*> by_stem;
  for (const Recipe& recipe : Recipes()) {
    if (recipe.folder == kPaper) by_stem[recipe.stem] = &recipe;
  }
  for (const Row& row : Published()) {
    const auto found = by_stem.find(row.recipe);
    ASSERT_TRUE(found != by_stem.end()) << row.recipe;
    const Recipe& recipe = *found->second;
    const auto is_named = [&](const Part& part) {
      return row.absent.empty() ? IsOf(recipe, part, row)
                                : part.label == row.row;
    };
    EXPECT_EQ(std::any_of(recipe.parts.begin(), recipe.parts.end(), is_named),
              row.absent.empty())
        << row.recipe << ": " << row.row;
  }
}

}  // namespace
}  // namespace ordo::tests::recipes
