#ifndef ORDO_MODEL_ENCODINGS_TESTING_EXAMPLES_H_
#define ORDO_MODEL_ENCODINGS_TESTING_EXAMPLES_H_

#include <ostream>
#include <string>
#include <vector>

#include "proto/ordo/training/v1/component.pb.h"

// Encodings that tests walk over: each row of the catalogue with its defaults,
// and every variant that takes another path.

namespace ordo::model::encodings::testing {

struct Example {
  // Letters, digits and '_'.
  std::string label;
  ordo::training::v1::Component encoding;
  // Its parameters act as their bounds where they are beyond them, but have the
  // bound's gradient, so that training can bring them back: no difference of
  // losses shows it.
  bool bounded_parameters = false;
};

// For messages of failing tests.
void PrintTo(const Example& example, std::ostream* out);

// All of them, with unique labels. Each fits heads of 8 channels, 2 heads. A
// variant with the name of a row stands for that row.
std::vector<Example> Examples();

// A component written as YAML: "{name: rope, params: {partial: 0.5}}". Dies
// where that is wrong.
ordo::training::v1::Component FromText(const std::string& yaml);

// The component called `name` with default parameters, and where it needs
// others with it, the first that may be.
ordo::training::v1::Component Simplest(const std::string& name);

// The variants of one family, each in examples_<family>.cc.
std::vector<Example> BiasExamples();
std::vector<Example> CombiningExamples();
std::vector<Example> ContentExamples();
std::vector<Example> InputExamples();
std::vector<Example> RotaryExamples();
std::vector<Example> StateExamples();

}  // namespace ordo::model::encodings::testing

#endif  // ORDO_MODEL_ENCODINGS_TESTING_EXAMPLES_H_
