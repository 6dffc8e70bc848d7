#include "services/spec/model_from.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ordo::services::spec {
namespace {

using ordo::jobs::v1::JobSpec;
using ::testing::ElementsAre;
using Violations = std::vector<base::FieldViolation>;

TEST(ModelFromTest, ModelAndEncodingAreTakenAndContradictionsTold) {
  JobSpec trained;
  trained.mutable_model()->set_layers(4);
  trained.mutable_model()->set_dropout(0.5);
  trained.mutable_encoding()->set_name("rope");
  JobSpec spec;
  spec.mutable_model()->set_from("jobs/a");
  spec.mutable_model()->set_from_sha256("aa");
  spec.mutable_model()->set_layers(5);
  spec.mutable_model()->set_dropout(0);
  Violations violations;
  TakeModel(trained, "stage a", &spec, &violations);
  EXPECT_EQ(spec.model().from(), "jobs/a");
  EXPECT_EQ(spec.model().from_sha256(), "");
  EXPECT_EQ(spec.model().layers(), 4);
  EXPECT_EQ(spec.model().dropout(), 0);
  EXPECT_EQ(spec.encoding().name(), "rope");
  EXPECT_THAT(violations,
              ElementsAre(base::FieldViolation{
                  "model.layers",
                  "is 4 in stage a, which the model is taken from; leave it "
                  "out"}));
}

}  // namespace
}  // namespace ordo::services::spec
