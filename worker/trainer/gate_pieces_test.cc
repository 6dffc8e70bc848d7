#include "worker/trainer/gate_pieces.h"

#include "base/status/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::worker::trainer {
namespace {

using model::catalog::GrowthOf;
using ordo::training::v1::Evaluation;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Evaluation Grid(int max_digits) {
  Evaluation evaluation;
  evaluation.set_task("addition_grid");
  evaluation.set_name("grid");
  evaluation.set_seed(3);
  (*evaluation.mutable_params())["max_digits"].set_number_value(max_digits);
  (*evaluation.mutable_params())["samples"].set_number_value(7);
  return evaluation;
}

TEST(GatePiecesTest, PiecesHaveAsManyItemsAsTheLooksNeed) {
  const Growth growth = {111, 9};
  // 108 items, 216, 324 and so on; the last has what the budget lets.
  EXPECT_THAT(PiecesOf(growth, 1), ElementsAre(Piece{0, 12}));
  EXPECT_THAT(PiecesOf(growth, 100), ElementsAre(Piece{0, 12}));
  EXPECT_THAT(PiecesOf(growth, 216), ElementsAre(Piece{0, 12}, Piece{12, 12}));
  EXPECT_THAT(PiecesOf(growth, 300),
              ElementsAre(Piece{0, 12}, Piece{12, 12}, Piece{24, 12}));
  EXPECT_EQ(
      PiecesOf(growth, 999).back().first + PiecesOf(growth, 999).back().count,
      111);
  EXPECT_THAT(PiecesOf(growth, 0), IsEmpty());
}

TEST(GatePiecesTest, ASampleOfManyItemsIsALook) {
  const Growth growth = {4, 250};
  EXPECT_THAT(PiecesOf(growth, 200), ElementsAre(Piece{0, 1}));
  EXPECT_THAT(PiecesOf(growth, 300), ElementsAre(Piece{0, 1}, Piece{1, 1}));
}

TEST(GatePiecesTest, AFixedSetIsOnePiece) {
  EXPECT_THAT(PiecesOf({}, 0), ElementsAre(Piece{}));
  EXPECT_THAT(PiecesOf({}, 500), ElementsAre(Piece{}));
}

TEST(GatePiecesTest, ReportsAreNamedByEvaluationRoleAndFirstSample) {
  EXPECT_EQ(ReportIdOf(Grid(3), "candidate", {}), "grid-candidate");
  EXPECT_EQ(ReportIdOf(Grid(3), "anchor", {12, 11}), "grid-anchor-12");
}

TEST(GatePiecesTest, APieceAsksItsSamplesAndIsReportedWithTheirNumber) {
  PieceQuestions questions;
  questions.evaluation = Grid(3);
  questions.growth = GrowthOf(questions.evaluation, 1000);
  questions.piece = {12, 11};
  ORDO_ASSERT_OK_AND_ASSIGN(const auto slice, MakePiece(questions, {}));
  EXPECT_EQ(slice->size(), 99);
  EXPECT_EQ(EvaluationOf(questions).params().at("samples").number_value(), 11);
  questions.piece = {};
  ORDO_ASSERT_OK_AND_ASSIGN(const auto whole, MakePiece(questions, {}));
  EXPECT_EQ(whole->size(), 63);
  EXPECT_EQ(EvaluationOf(questions).params().at("samples").number_value(), 7);
}

}  // namespace
}  // namespace ordo::worker::trainer
