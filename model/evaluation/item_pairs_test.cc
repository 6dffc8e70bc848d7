#include "model/evaluation/item_pairs.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file_util.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/details.h"
#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/evaluation/items.h"
#include "model/evaluation/report.h"

namespace ordo::model::evaluation {
namespace {

using ::ordo::base::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// By id.
using ScoreOfItem = std::vector<std::pair<std::string, double>>;

class ItemPairsTest : public ::testing::Test {
 protected:
  ItemPairsTest() {
    for (ReportSubject* subject : {&candidate_, &baseline_}) {
      subject->evaluation.set_task("addition_grid");
      subject->evaluation.set_seed(1);
      (*subject->evaluation.mutable_params())["samples"].set_number_value(2);
      subject->task_version = 1;
    }
    candidate_.id = "c";
    baseline_.id = "b";
  }

  void Write(const ReportSubject& subject, const ScoreOfItem& scores,
             const std::string& unit = "") {
    Outcome outcome;
    for (const auto& [id, score] : scores) {
      Item& item = outcome.items.emplace_back();
      item.id = id;
      item.unit = unit.empty() ? id : unit;
      item.score = score;
    }
    ORDO_EXPECT_OK(WriteReport(files_, folder_.path(), subject, outcome));
  }

  // One item, and these of its result.
  void WriteOneWith(const ReportSubject& subject,
                    const std::map<std::string, std::string>& details) {
    Outcome outcome;
    outcome.items.emplace_back().id = "256-0";
    outcome.items.back().unit = "document-0";
    for (const auto& [name, value] : details) {
      outcome.scores.details[name] = value;
    }
    ORDO_EXPECT_OK(WriteReport(files_, folder_.path(), subject, outcome));
  }

  absl::StatusOr<PairedItems> Pair() {
    return PairItems(
        files_, {folder_.Path("results/c-1"), folder_.Path("results/b-1")});
  }

  // What is said where both have the same items.
  absl::Status ErrorOfSameItems() {
    Write(candidate_, {{"1-0", 1}});
    Write(baseline_, {{"1-0", 1}});
    const absl::Status status = Pair().status();
    const auto violations = base::FieldViolations(status);
    EXPECT_EQ(violations.size(), 1u) << status;
    if (violations.size() == 1) {
      EXPECT_EQ(violations[0].field, "baseline");
    }
    return status;
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
  ReportSubject candidate_;
  ReportSubject baseline_;
};

TEST_F(ItemPairsTest, ItemsArePairedByIdInTheOrderOfTheCandidate) {
  Write(candidate_, {{"1-0", 1}, {"1-1", 0}, {"1-2", 0.5}}, "page 1");
  Write(baseline_, {{"1-2", 0.25}, {"1-0", 0}, {"1-1", 1}}, "page 1");
  ORDO_ASSERT_OK_AND_ASSIGN(const PairedItems paired, Pair());
  EXPECT_THAT(paired.differences, IsEmpty());
  const std::vector<ItemPair>& pairs = paired.items;
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_EQ(pairs[0].id, "1-0");
  EXPECT_EQ(pairs[0].unit, "page 1");
  EXPECT_EQ(pairs[0].candidate, 1);
  EXPECT_EQ(pairs[0].baseline, 0);
  EXPECT_EQ(pairs[1].candidate, 0);
  EXPECT_EQ(pairs[1].baseline, 1);
  EXPECT_EQ(pairs[2].candidate, 0.5);
  EXPECT_EQ(pairs[2].baseline, 0.25);
}

TEST_F(ItemPairsTest, AnotherTaskIsRefused) {
  baseline_.evaluation.set_task("passkey");
  EXPECT_THAT(std::string(ErrorOfSameItems().message()),
              HasSubstr("has task passkey, the candidate addition_grid"));
}

TEST_F(ItemPairsTest, AnotherVersionOfTheTaskIsRefused) {
  baseline_.task_version = 2;
  EXPECT_THAT(
      std::string(ErrorOfSameItems().message()),
      HasSubstr("has version of addition_grid 2, the candidate 1; evaluate"));
}

TEST_F(ItemPairsTest, WindowsOfAnotherTextAreRefused) {
  candidate_.evaluation.set_task("text");
  baseline_.evaluation.set_task("text");
  WriteOneWith(candidate_, {{"data_fingerprint", "aa"}});
  WriteOneWith(baseline_, {{"data_fingerprint", "aa"}});
  ORDO_EXPECT_OK(Pair());
  WriteOneWith(baseline_, {{"data_fingerprint", "bb"}});
  EXPECT_THAT(Pair(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("has data bb, the candidate aa")));
}

TEST_F(ItemPairsTest, AnotherVersionOfTheFileWithQuestionsIsRefused) {
  candidate_.evaluation.set_task("questions");
  baseline_.evaluation.set_task("questions");
  WriteOneWith(candidate_,
               {{"data_fingerprint", "aa"}, {"questions_sha256", "cc"}});
  // The fingerprint has the tokenizer too, which may be another.
  WriteOneWith(baseline_,
               {{"data_fingerprint", "bb"}, {"questions_sha256", "cc"}});
  ORDO_EXPECT_OK(Pair());
  WriteOneWith(baseline_,
               {{"data_fingerprint", "bb"}, {"questions_sha256", "dd"}});
  EXPECT_THAT(
      Pair(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("baseline: has questions of version dd, the candidate "
                         "cc; evaluate one of them as the other")));
}

TEST_F(ItemPairsTest, OtherParametersAreRefused) {
  (*baseline_.evaluation.mutable_params())["samples"].set_number_value(3);
  EXPECT_THAT(std::string(ErrorOfSameItems().message()),
              HasSubstr("has params {\"samples\":3"));
}

TEST_F(ItemPairsTest, AnotherSeedIsRefused) {
  baseline_.evaluation.set_seed(2);
  EXPECT_THAT(std::string(ErrorOfSameItems().message()),
              HasSubstr("has seed 2, the candidate 1"));
}

TEST_F(ItemPairsTest, AnotherPrecisionOrKernelIsPairedAndSaid) {
  baseline_.precision = "bf16";
  candidate_.evaluation.set_kernel("reference");
  Write(candidate_, {{"1-0", 1}});
  Write(baseline_, {{"1-0", 1}});
  ORDO_ASSERT_OK_AND_ASSIGN(const PairedItems paired, Pair());
  EXPECT_EQ(paired.items.size(), 1u);
  EXPECT_THAT(
      paired.differences,
      ElementsAre(
          "the candidate was evaluated in fp32, the baseline in bf16",
          "the candidate was evaluated with kernel reference, the baseline "
          "with kernel of the device's choice"));
}

TEST_F(ItemPairsTest, ItemsThatAreNotInBothAreCountedAndNamed) {
  Write(candidate_, {{"1-0", 1}, {"1-1", 1}, {"1-2", 1}});
  Write(baseline_, {{"1-4", 1}, {"1-0", 1}, {"1-3", 1}, {"1-5", 1}});
  EXPECT_THAT(
      Pair(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("baseline: lacks 2 items of the candidate, such as "
                         "1-1 and has 3 that the candidate lacks, such as "
                         "1-3; evaluate both")));
}

TEST_F(ItemPairsTest, AnItemThatOneAloneHasIsEnough) {
  Write(candidate_, {{"1-0", 1}});
  Write(baseline_, {{"1-0", 1}, {"1-1", 1}});
  EXPECT_THAT(Pair(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("baseline: has 1 that")));
  Write(candidate_, {{"1-0", 1}, {"1-1", 1}, {"1-2", 1}});
  EXPECT_THAT(Pair(), StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("baseline: lacks 1 items")));
}

TEST_F(ItemPairsTest, AnotherUnitIsRefused) {
  Write(candidate_, {{"1-0", 1}}, "page 1");
  Write(baseline_, {{"1-0", 1}}, "page 2");
  EXPECT_THAT(Pair(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("has unit of item 1-0 page 2, the candidate "
                                 "page 1")));
}

TEST_F(ItemPairsTest, ItemsThatAreMissingOrTwiceAreDamage) {
  Write(candidate_, {{"1-0", 1}, {"1-1", 1}});
  Write(baseline_, {{"1-0", 1}, {"1-1", 1}});
  for (const char* report : {"results/c-1", "results/b-1"}) {
    const std::string path = folder_.Path(std::string(report) + "/items.jsonl");
    ORDO_ASSERT_OK_AND_ASSIGN(const std::string whole,
                              base::ReadFile(files_, path, 1 << 20));
    const std::string first = whole.substr(0, whole.find('\n') + 1);
    ORDO_ASSERT_OK(base::AtomicWrite(files_, path, first));
    EXPECT_THAT(Pair(), StatusIs(absl::StatusCode::kDataLoss,
                                 HasSubstr("it has 1 items, the report 2")));
    ORDO_ASSERT_OK(base::AtomicWrite(files_, path, first + first));
    EXPECT_THAT(Pair(), StatusIs(absl::StatusCode::kDataLoss,
                                 HasSubstr("it has item 1-0 twice")));
    ORDO_ASSERT_OK(base::AtomicWrite(files_, path, whole));
  }
  ORDO_EXPECT_OK(Pair());
}

TEST_F(ItemPairsTest, AReportOfBeforeThereWereItemsIsEvaluatedAgain) {
  Write(candidate_, {{"1-0", 1}});
  ORDO_ASSERT_OK(files_.MakeFolders(folder_.Path("results/b-1")));
  ORDO_ASSERT_OK(
      base::AtomicWrite(files_, folder_.Path("results/b-1/result.json"),
                        "{\"task\": \"addition_grid\", \"seed\": 1}\n"));
  EXPECT_THAT(Pair(), StatusIs(absl::StatusCode::kFailedPrecondition,
                               HasSubstr("evaluate the checkpoint again")));
}

TEST_F(ItemPairsTest, WhatWasAskedHasOneDigestWhateverTheAnswers) {
  const auto digest_of = [this](const char* report) {
    const auto digest = QuestionsDigest(files_, folder_.Path(report));
    ORDO_EXPECT_OK(digest);
    return digest.value_or("none");
  };
  Write(candidate_, {{"1-0", 1}, {"1-1", 0}});
  Write(baseline_, {{"1-0", 0}, {"1-1", 0.5}});
  const std::string asked = digest_of("results/c-1");
  EXPECT_EQ(asked.size(), 64u);
  EXPECT_EQ(digest_of("results/b-1"), asked);
  Write(baseline_, {{"1-1", 0.5}, {"1-0", 0}});
  EXPECT_NE(digest_of("results/b-1"), asked);
  Write(baseline_, {{"1-0", 0}});
  EXPECT_NE(digest_of("results/b-1"), asked);
  Write(baseline_, {{"1-0", 0}, {"1-1", 0.5}}, "page 1");
  EXPECT_NE(digest_of("results/b-1"), asked);
  Outcome of_other_data;
  of_other_data.scores.details["data_fingerprint"] = "0123";
  for (const char* id : {"1-0", "1-1"}) {
    of_other_data.items.emplace_back();
    of_other_data.items.back().id = of_other_data.items.back().unit = id;
  }
  ORDO_ASSERT_OK(WriteReport(files_, folder_.path(), baseline_, of_other_data));
  EXPECT_NE(digest_of("results/b-1"), asked);
  for (const auto change : {0, 1, 2, 3}) {
    ReportSubject other = baseline_;
    if (change == 0) other.evaluation.set_task("passkey");
    if (change == 1) other.evaluation.set_seed(2);
    if (change == 2) other.task_version = 2;
    if (change == 3) other.evaluation.clear_params();
    Write(other, {{"1-0", 0}, {"1-1", 0.5}});
    EXPECT_NE(digest_of("results/b-1"), asked) << change;
  }
  EXPECT_THAT(QuestionsDigest(files_, folder_.Path("results/none")),
              StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace ordo::model::evaluation
