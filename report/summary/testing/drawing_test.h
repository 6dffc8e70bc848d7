#ifndef ORDO_REPORT_SUMMARY_TESTING_DRAWING_TEST_H_
#define ORDO_REPORT_SUMMARY_TESTING_DRAWING_TEST_H_

#include <string>

#include "base/files/file_util.h"
#include "base/files/files.h"
#include "base/files/testing/temporary_folder.h"
#include "base/status/testing/status_matchers.h"
#include "gtest/gtest.h"
#include "report/figure.h"

namespace ordo::report::summary::testing {

// A test of figures as they are drawn.
class DrawingTest : public ::testing::Test {
 protected:
  // What gnuplot makes of it.
  std::string Svg(const Figure& figure) {
    const std::string path = folder_.Path("figure.svg");
    ORDO_EXPECT_OK(Draw(files_, figure, FigureForm::kSvg, path));
    const auto svg = base::ReadFile(files_, path, 1 << 20);
    ORDO_EXPECT_OK(svg);
    return svg.ok() ? *svg : "";
  }

  base::PosixFilesystem files_;
  base::testing::TemporaryFolder folder_;
};

}  // namespace ordo::report::summary::testing

#endif  // ORDO_REPORT_SUMMARY_TESTING_DRAWING_TEST_H_
