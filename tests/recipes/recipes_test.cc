// The recipes of model/recipes against Ordo and against the sources: each is
// resolved, their models have the parameters and the cost that
// model/recipes/published.txt says, all that the sources have tables and
// figures of is there or is said to be absent (sources.txt), and each recipe at
// the size of the papers has a small one (small.txt).

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
#include "absl/strings/str_join.h"
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
#include "model/catalog/catalog.h"
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
constexpr char kSmall[] = "small";
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

// The jobs that recipes train, by their resource names, those of the files that
// have been read.
std::map<std::string, JobSpec>& Trained() {
  static auto* const jobs = new std::map<std::string, JobSpec>();
  return *jobs;
}

// The checkpoints that recipes begin with are of other recipes, whose names
// come before theirs, or pushed by whoever runs them: their models are filled
// in as the scheduler would.
void FillModel(JobSpec* part,
               std::vector<base::FieldViolation>* /*violations*/) {
  const std::string from = part->model().from();
  const auto trained = Trained().find(from);
  if (trained != Trained().end()) {
    *part->mutable_model() = trained->second.model();
    part->mutable_model()->set_from(from);
    if (!part->has_encoding()) {
      *part->mutable_encoding() = trained->second.encoding();
    }
    return;
  }
  if (from != "jobs/llama-2-7b") return;
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

std::vector<std::string> FilesIn(const std::string& folder) {
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
  for (const std::string& folder : FilesIn(kRoot)) {
    if (absl::StrContains(folder, ".")) continue;
    const std::string path = base::JoinPath(kRoot, folder);
    for (const std::string& name : FilesIn(path)) {
      if (!absl::EndsWith(name, ".yaml")) continue;
      JobSpec spec;
      ORDO_EXPECT_OK(base::ReadMessage(TextOf(base::JoinPath(path, name)),
                                       base::TextForm::kYaml, &spec))
          << path << "/" << name;
      recipes.push_back(Resolved(
          folder, std::string(absl::StripSuffix(name, ".yaml")), spec));
      for (const Part& part : recipes.back().parts) {
        if (part.spec.kind() != JobSpec::TRAIN) continue;
        Trained()[absl::StrCat("jobs/", part.spec.name())] = part.spec;
      }
    }
  }
  return recipes;
}

const std::vector<Recipe>& Recipes() {
  static const auto* const recipes = new std::vector<Recipe>(Load());
  return *recipes;
}

// The fields of each line of a file of the folder, which "|" parts.
std::vector<std::vector<std::string>> LinesOf(const std::string& name) {
  std::vector<std::vector<std::string>> lines;
  const std::string text = TextOf(base::JoinPath(kRoot, name));
  for (const absl::string_view line :
       absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    if (line.front() == '#') continue;
    lines.emplace_back(absl::StrSplit(line, '|'));
    for (std::string& cell : lines.back()) absl::StripAsciiWhitespace(&cell);
  }
  return lines;
}

// A line of published.txt.
struct Row {
  // Its name, which of the paper's recipes is the file's.
  std::string recipe;
  std::string row;
  // Why, where the recipe leaves it out.
  std::string absent;
  int64_t parameters = 0;
  // 0: none is printed.
  double printed = 0;
  double within = 0;
  double unit = 1;
  // Billions, of a line of cost; 0: it is none.
  double macs = 0;
  double flops = 0;
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

void ReadRow(const std::vector<std::string>& cells, Row* row) {
  const std::string line = absl::StrJoin(cells, " | ");
  ASSERT_GE(cells.size(), 3u) << line;
  row->recipe = cells[0];
  row->row = cells[1];
  if (cells[2] == "absent") {
    ASSERT_THAT(cells, SizeIs(4)) << line;
    row->absent = cells[3];
    return;
  }
  if (cells[2] == "cost") {
    ASSERT_THAT(cells, SizeIs(5)) << line;
    ASSERT_TRUE(absl::SimpleAtod(cells[3], &row->macs)) << line;
    ASSERT_TRUE(absl::SimpleAtod(cells[4], &row->flops)) << line;
    return;
  }
  ASSERT_TRUE(absl::SimpleAtoi(cells[2], &row->parameters)) << line;
  if (cells.size() == 3) return;
  ASSERT_THAT(cells, SizeIs(5)) << line;
  ReadPrinted(cells, row);
}

std::vector<Row> Published() {
  std::vector<Row> rows;
  for (const std::vector<std::string>& cells : LinesOf("published.txt")) {
    Row row;
    ReadRow(cells, &row);
    rows.push_back(row);
  }
  return rows;
}

// Whether the part is what the row names.
bool IsOf(const Recipe& recipe, const Part& part, const Row& row) {
  if (row.recipe != recipe.spec.name() || !row.absent.empty()) return false;
  if (recipe.spec.kind() != JobSpec::SWEEP) return part.label == row.row;
  const std::vector<std::string> words =
      absl::StrSplit(row.row, ' ', absl::SkipEmpty());
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return absl::StrContains(part.label, word);
  });
}

model::cost::PartCost CostOf(const JobSpec& spec) {
  model::cost::CostSubject subject{spec.model(), spec.encoding()};
  if (spec.training().has_lora()) subject.lora = &spec.training().lora();
  model::cost::CostOptions options;
  options.convention = model::catalog::CostConvention::kTapeTable3;
  return model::cost::CountCost(subject, options).whole;
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
  EXPECT_GT(of_folder[kSmall], 0);
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

// Of small recipes those are listed whose paper counts parameters.
TEST(RecipesTest, ModelsHaveTheParametersOfTheSources) {
  const std::vector<Row> rows = Published();
  for (const Recipe& recipe : Recipes()) {
    for (const Part& part : recipe.parts) {
      if (part.spec.kind() != JobSpec::TRAIN) continue;
      std::vector<Row> own;
      std::copy_if(rows.begin(), rows.end(), std::back_inserter(own),
                   [&](const Row& row) {
                     return row.parameters > 0 && IsOf(recipe, part, row);
                   });
      if (recipe.folder != kPaper && own.empty()) continue;
      ASSERT_THAT(own, SizeIs(1)) << Where(recipe, part);
      EXPECT_EQ(CostOf(part.spec).parameters, own[0].parameters)
          << Where(recipe, part);
    }
  }
}

// Of one row of 1024 tokens, to the printed digits.
TEST(RecipesTest, CostIsThatPrinted) {
  constexpr double kHalfDigit = 0.005;
  int num_rows = 0;
  for (const Row& row : Published()) {
    if (row.macs == 0) continue;
    for (const Recipe& recipe : Recipes()) {
      for (const Part& part : recipe.parts) {
        if (!IsOf(recipe, part, row)) continue;
        const auto cost = CostOf(part.spec);
        EXPECT_NEAR(static_cast<double>(cost.macs) / 1e9, row.macs, kHalfDigit)
            << Where(recipe, part);
        EXPECT_NEAR(static_cast<double>(cost.flops) / 1e9, row.flops,
                    kHalfDigit)
            << Where(recipe, part);
        ++num_rows;
      }
    }
  }
  EXPECT_EQ(num_rows, 3);
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
  std::map<std::string, const Recipe*> by_name;
  for (const Recipe& recipe : Recipes()) by_name[recipe.spec.name()] = &recipe;
  for (const Row& row : Published()) {
    const auto found = by_name.find(row.recipe);
    ASSERT_TRUE(found != by_name.end()) << row.recipe;
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

// What a recipe evaluates, other recipes leave behind.
TEST(RecipesTest, CheckpointsAreThoseOfRecipes) {
  for (const Recipe& recipe : Recipes()) {
    for (const Part& part : recipe.parts) {
      for (const std::string& checkpoint : part.spec.checkpoints()) {
        EXPECT_EQ(Trained().count(checkpoint), 1u)
            << recipe.stem << ": " << checkpoint;
      }
    }
  }
}

// How many tables and figures a source has.
struct Source {
  int tables = 0;
  int figures = 0;
  bool operator==(const Source& other) const {
    return tables == other.tables && figures == other.figures;
  }
};

// Those of a source are numbered from 1 on, but for the tutorial's, which are
// of many papers.
TEST(RecipesTest, EachTableAndFigureIsThereOrSaidToBeAbsent) {
  const std::map<std::string, Source> sources = {{"TAPE-1", {7, 6}},
                                                 {"TAPE-2", {11, 7}},
                                                 {"CoPE", {10, 6}},
                                                 {"tutorial", {8, 11}}};
  std::set<std::string> named;
  std::map<std::string, Source> found;
  for (const std::vector<std::string>& cells : LinesOf("sources.txt")) {
    const std::string name = absl::StrCat(cells[0], " ", cells[1]);
    EXPECT_TRUE(named.insert(name).second) << name;
    if (cells[0] == "others") continue;
    found[cells[0]].tables += absl::StartsWith(cells[1], "table ") ? 1 : 0;
    found[cells[0]].figures += absl::StartsWith(cells[1], "figure ") ? 1 : 0;
  }
  EXPECT_TRUE(found == sources);
  for (const auto& [source, count] : sources) {
    if (source == "tutorial") continue;
    for (int i = 1; i <= count.tables; ++i) {
      EXPECT_EQ(named.count(absl::StrCat(source, " table ", i)), 1u)
          << source << " " << i;
    }
    for (int i = 1; i <= count.figures; ++i) {
      EXPECT_EQ(named.count(absl::StrCat(source, " figure ", i)), 1u)
          << source << " " << i;
    }
  }
}

// The files of folders, without the extension.
std::set<std::string> StemsOf(const std::set<std::string>& folders) {
  std::set<std::string> stems;
  for (const Recipe& recipe : Recipes()) {
    if (folders.count(recipe.folder) > 0) stems.insert(recipe.stem);
  }
  return stems;
}

// The names, with commas between them, of field `at`, the last; nothing where
// it says that there is none, and another why.
std::vector<std::string> NamesAt(size_t at,
                                 const std::vector<std::string>& cells) {
  const std::string line = absl::StrJoin(cells, " | ");
  const bool is_absent = cells.size() == at + 2 && cells[at] == "absent";
  EXPECT_TRUE(is_absent || cells.size() == at + 1) << line;
  EXPECT_FALSE(cells.back().empty()) << line;
  if (cells.size() != at + 1) return {};
  return absl::StrSplit(cells[at], ", ");
}

TEST(RecipesTest, RecipesAreOfTheSources) {
  const std::set<std::string> stems = StemsOf({kPaper});
  std::set<std::string> named;
  for (const std::vector<std::string>& cells : LinesOf("sources.txt")) {
    for (const std::string& name : NamesAt(2, cells)) {
      EXPECT_EQ(stems.count(name), 1u) << cells[1] << ": " << name;
      named.insert(name);
    }
  }
  EXPECT_EQ(named, stems);
}

TEST(RecipesTest, EachOfThePapersHasASmallOneOrAReason) {
  const std::set<std::string> small = StemsOf({kSmall, "small_more"});
  std::set<std::string> listed;
  std::set<std::string> named;
  for (const std::vector<std::string>& cells : LinesOf("small.txt")) {
    EXPECT_TRUE(listed.insert(cells[0]).second) << cells[0];
    for (const std::string& name : NamesAt(1, cells)) {
      EXPECT_EQ(small.count(name), 1u) << cells[0] << ": " << name;
      named.insert(name);
    }
  }
  EXPECT_EQ(listed, StemsOf({kPaper}));
  EXPECT_EQ(named, small);
}

// For two CPU cores: the paper's smallest have 100 000 parameters, trained for
// 100 000 steps. All of small/ together take less than 40 minutes.
TEST(RecipesTest, SmallOnesAreSmall) {
  constexpr int64_t kMostParameters = 250000;
  for (const Recipe& recipe : Recipes()) {
    if (recipe.folder == kPaper) continue;
    const int64_t most_steps = recipe.folder == kSmall ? 8000 : 1000;
    for (const Part& part : recipe.parts) {
      EXPECT_EQ(part.spec.resources().device(), "cpu") << Where(recipe, part);
      if (part.spec.kind() != JobSpec::TRAIN) continue;
      EXPECT_LE(CostOf(part.spec).parameters, kMostParameters)
          << Where(recipe, part);
      EXPECT_LE(part.spec.training().steps(), most_steps)
          << Where(recipe, part);
    }
  }
}

}  // namespace
}  // namespace ordo::tests::recipes
