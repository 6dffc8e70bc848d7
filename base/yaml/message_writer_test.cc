#include "base/yaml/message_writer.h"

#include <cmath>

#include "base/yaml/sample.pb.h"
#include "base/yaml/yaml_node.h"
#include "gtest/gtest.h"

namespace ordo::base {
namespace {

using ::ordo::base::sample::Sample;

TEST(WriteTreeTest, LeavesUnsetFieldsOutAndSortsMaps) {
  Sample sample;
  sample.set_name("a");
  (*sample.mutable_labels())["z"] = "1";
  (*sample.mutable_labels())["b"] = "2";
  EXPECT_EQ(PrintYaml(WriteTree(sample, false)),
            "name: a\nlabels:\n  b: \"2\"\n  z: \"1\"\n");
}

TEST(WriteTreeTest, WritesAnEmptyMessageThatIsSet) {
  Sample sample;
  sample.mutable_training();
  EXPECT_EQ(PrintYaml(WriteTree(sample, false)), "training: {}\n");
  EXPECT_EQ(PrintYaml(WriteTree(Sample(), false)), "{}\n");
}

TEST(WriteTreeTest, QuotesInJsonWhatJsonHasNoNumberFor) {
  Sample sample;
  sample.mutable_training()->set_steps(9007199254740993);
  sample.mutable_training()->set_learning_rate(NAN);
  sample.set_ratio(INFINITY);
  sample.set_port(7420);
  EXPECT_EQ(PrintJson(WriteTree(sample, true)),
            R"({"training":{"steps":"9007199254740993",)"
            R"("learning_rate":"NaN"},"ratio":"Infinity","port":7420})");
  EXPECT_EQ(PrintYaml(WriteTree(sample, false)),
            "training:\n  steps: 9007199254740993\n  learning_rate: .nan\n"
            "ratio: .inf\nport: 7420\n");
}

TEST(WriteTreeTest, WritesAValueOfNoKindAsNull) {
  Sample sample;
  sample.mutable_value();
  EXPECT_EQ(PrintJson(WriteTree(sample, true)), R"({"value":null})");
}

}  // namespace
}  // namespace ordo::base
