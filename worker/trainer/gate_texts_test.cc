#include "worker/trainer/gate_texts.h"

#include <memory>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/evaluation/items.h"
#include "model/tasks/addition.h"

namespace ordo::worker::trainer {
namespace {

using base::testing::StatusIs;
using model::evaluation::Item;
using report::gate::WorseItem;

std::vector<WorseItem> Worse(const std::vector<std::string>& ids) {
  std::vector<WorseItem> items;
  for (const std::string& id : ids) {
    items.emplace_back();
    items.back().id = id;
  }
  return items;
}

class GateTextsTest : public ::testing::Test {
 protected:
  // A report with items called as given, each with its id and `output`.
  std::string Report(const std::string& name,
                     const std::vector<std::string>& ids,
                     const std::string& output) {
    std::vector<Item> items;
    for (const std::string& id : ids) {
      Item& item = items.emplace_back();
      item.id = item.unit = id;
      model::evaluation::SetOutput(id + output, &item);
    }
    const std::string folder = folder_.Path(name);
    ORDO_EXPECT_OK(files_.MakeFolders(folder));
    ORDO_EXPECT_OK(model::evaluation::WriteItems(files_, folder, items));
    return folder;
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

TEST_F(GateTextsTest, OutputsAreThoseOfBothInWhateverReport) {
  const ReportFolders folders = {
      {Report("c1", {"1-0", "1-1"}, " c"), Report("c2", {"1-2"}, " c")},
      {Report("b1", {"1-0", "1-1"}, " b"), Report("b2", {"1-2"}, " b")}};
  std::vector<WorseItem> items = Worse({"1-2", "1-0"});
  ORDO_ASSERT_OK(FillOutputs(files_, folders, &items));
  EXPECT_EQ(items[0].candidate_output, "1-2 c");
  EXPECT_EQ(items[0].reference_output, "1-2 b");
  EXPECT_EQ(items[1].candidate_output, "1-0 c");
}

TEST_F(GateTextsTest, AnOutputThatWasCutSaysSo) {
  const std::string report = Report("c", {"1-0"}, std::string(2000, 'x'));
  std::vector<WorseItem> items = Worse({"1-0"});
  ORDO_ASSERT_OK(FillOutputs(files_, {{report}, {report}}, &items));
  EXPECT_EQ(
      items[0].candidate_output.substr(items[0].candidate_output.size() - 5),
      "x ...");
}

TEST_F(GateTextsTest, AReportThatIsGoneIsNotFound) {
  std::vector<WorseItem> items = Worse({"1-0"});
  EXPECT_THAT(FillOutputs(files_, {{folder_.Path("none")}, {}}, &items),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(GateTextsTest, PromptsAreWhatTheTaskAsks) {
  model::tasks::PairGridOptions options;
  options.max_first = 1;
  options.max_second = 2;
  options.samples = 3;
  const auto task =
      model::tasks::MakePairGrid(model::tasks::Addition(), options);
  std::vector<WorseItem> items = Worse({"9-4", "9-99"});
  ORDO_ASSERT_OK(FillPrompts(*task, 9, &items));
  EXPECT_EQ(items[0].prompt,
            task->tokenizer().Decode(task->Generate(9, 4)->prompt));
  EXPECT_EQ(items[1].prompt, "");
}

// Two rows of each item, of which no byte is text.
class Choices : public model::tasks::EvaluationTask {
 public:
  explicit Choices(const model::tasks::Tokenizer& tokenizer)
      : tokenizer_(tokenizer) {}
  const model::tasks::Tokenizer& tokenizer() const override {
    return tokenizer_;
  }
  int64_t size() const override { return 4; }
  absl::StatusOr<model::tasks::Question> Generate(
      uint64_t /*seed*/, int64_t index) const override {
    return model::tasks::Question{{index}, {}};
  }
  int PromptLength(int64_t /*index*/) const override { return 1; }
  std::string ItemId(uint64_t /*seed*/, int64_t index) const override {
    return "q" + std::to_string(index / 2) + "/" + std::to_string(index % 2);
  }
  model::tasks::Scores Score(const model::tasks::Marked&) const override {
    return {};
  }

 private:
  const model::tasks::Tokenizer& tokenizer_;
};

class Bytes : public model::tasks::Tokenizer {
 public:
  int vocabulary_size() const override { return 256; }
  absl::StatusOr<std::vector<int64_t>> Encode(
      std::string_view /*text*/) const override {
    return std::vector<int64_t>{};
  }
  std::string Decode(const std::vector<int64_t>& tokens) const override {
    return "\xFF" + std::to_string(tokens.front());
  }
};

TEST_F(GateTextsTest, AnItemWithChoicesHasThePromptOfTheFirst) {
  const Bytes tokenizer;
  std::vector<WorseItem> items = Worse({"q1"});
  ORDO_ASSERT_OK(FillPrompts(Choices(tokenizer), 1, &items));
  EXPECT_EQ(items[0].prompt,
            "\xEF\xBF\xBD"
            "2");
}

}  // namespace
}  // namespace ordo::worker::trainer
