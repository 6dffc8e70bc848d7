// Frequencies of the rotary family against Hugging Face's: see
// tools/golden/rope_scaling.py, which made the file.

#include <cmath>
#include <string>
#include <vector>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/status/testing/status_matchers.h"
#include "base/yaml/text_form.h"
#include "google/protobuf/struct.pb.h"
#include "gtest/gtest.h"
#include "model/catalog/catalog.h"
#include "model/catalog/entries.h"
#include "model/encodings/rotary_scaling.h"

namespace ordo::tests::golden {
namespace {

namespace catalog = model::catalog;

using google::protobuf::Struct;
using ordo::training::v1::Component;

Component EncodingOf(const Struct& golden) {
  const auto& fields = golden.fields().at("encoding").struct_value().fields();
  Component component;
  component.set_name(fields.at("name").string_value());
  *component.mutable_params() = fields.at("params").struct_value().fields();
  std::vector<base::FieldViolation> violations;
  catalog::ResolveComponent(catalog::Kind::kEncoding, "encoding", &component,
                            &violations);
  EXPECT_TRUE(violations.empty()) << component.DebugString();
  return component;
}

TEST(GoldenRopeScalingTest, FrequenciesEqualHuggingFaces) {
  base::PosixFilesystem files;
  ORDO_ASSERT_OK_AND_ASSIGN(
      const std::string text,
      base::ReadFile(files, "tests/golden/rope_scaling/cases.json",
                     /*max_bytes=*/1 << 20));
  Struct golden;
  ORDO_ASSERT_OK(base::ReadMessage(text, base::TextForm::kJson, &golden));
  const auto& cases = golden.fields().at("cases").list_value().values();
  EXPECT_GE(cases.size(), 18);
  for (const auto& value : cases) {
    const Struct& one = value.struct_value();
    const Component component = EncodingOf(one);
    const auto head_width =
        static_cast<int>(one.fields().at("head_width").number_value());
    const auto length =
        static_cast<int64_t>(one.fields().at("length").number_value());
    const model::encodings::Rotation rotation = model::encodings::RotationOf(
        component, catalog::TurningChannels(component.params(), head_width),
        length);
    const auto& expected = one.fields().at("frequencies").list_value().values();
    ASSERT_EQ(static_cast<size_t>(expected.size()), rotation.frequencies.size())
        << component.DebugString();
    for (int f = 0; f < expected.size(); ++f) {
      // Theirs are made in fp32.
      EXPECT_NEAR(rotation.frequencies[f] / expected[f].number_value(), 1.0,
                  2e-6)
          << f << " of " << component.DebugString();
    }
    EXPECT_NEAR(rotation.attention_factor,
                one.fields().at("attention_factor").number_value(), 1e-12)
        << component.DebugString();
  }
}

}  // namespace
}  // namespace ordo::tests::golden
