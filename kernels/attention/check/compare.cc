#include "kernels/attention/check/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "kernels/attention/check/naive.h"
#include "kernels/attention/reference.h"

namespace ordo::kernels::attention::check {
namespace {

using kernels::check::Miss;

// What a problem's numbers are, rightly and naively: of these the results only.
struct Answers {
  Tensors inputs;
  Tensors judge;
  Naive naive;
};

// Small problems have the names of others.
using Key = std::pair<std::string, int64_t>;

Key KeyOf(const Case& c) { return {c.label, c.problem.keys}; }

std::map<Key, Answers>& Judged() {
  static auto* const judged = new std::map<Key, Answers>;
  return *judged;
}

Answers MakeAnswers(const Case& c) {
  Answers answers;
  answers.inputs = MakeTensors(c.problem, 1);
  if (c.draw != nullptr) c.draw(c.problem, &answers.inputs);
  answers.judge = answers.inputs;
  ReferenceBackward(c.problem, &answers.judge);
  answers.naive = RunNaive(c.problem, answers.inputs);
  for (Tensors* const tensors : {&answers.judge, &answers.naive.tensors}) {
    for (std::vector<double>& x : tensors->inputs) x = {};
    for (std::vector<double>& x : tensors->d_outputs) x = {};
  }
  return answers;
}

// Of a case that was judged, or of the last one that was not: all of them take
// gigabytes.
const Answers& AnswersTo(const Case& c) {
  const auto found = Judged().find(KeyOf(c));
  if (found != Judged().end()) return found->second;
  static auto* const last = new std::pair<Key, Answers>;
  if (last->first != KeyOf(c)) *last = {KeyOf(c), MakeAnswers(c)};
  return last->second;
}

class Comparison {
 public:
  Comparison(const Problem& problem, const Answers& answers,
             const Tensors& found)
      : problem_(problem), answers_(answers), found_(found) {}

  std::vector<Miss> Run() {
    for (int i = 0; i < kNumOutputs; ++i) {
      Compare(
          NameOf(static_cast<Output>(i)),
          0, [i](const Tensors& x) -> auto& { return x.outputs[i]; });
    }
    for (int i = 0; i < kNumInputs; ++i) {
      const auto input = static_cast<Input>(i);
      Compare(
          std::string("d ") + NameOf(input),
          LargestTerm(input), [i](const Tensors& x) -> auto& {
            return x.d_inputs[i];
          });
    }
    CompareLogSums();
    return std::move(misses_);
  }

 private:
  const double kFp32 = Epsilon(Type::kFloat32);

  // The largest number that a gradient is the sum of, relative to fp32; 0 where
  // that is what it is itself.
  double LargestTerm(Input input) const {
    if (input >= kValue && input < kValue + kMaxValues) return 0;
    const double change = answers_.naive.largest_change;
    const double slope = 2 * answers_.naive.largest_slope;
    if (input == kModDistance) return slope * change;
    if (input == kModQuery) return Most(slope, problem_.heads) * change;
    if (input == kModParameter) return Most(slope, problem_.queries) * change;
    if (input == kPositionSlope) {
      const auto count = static_cast<double>(problem_.keys);
      return Most(2 * count, problem_.queries) * change;
    }
    // A multiplier's is of a gradient and the logit that it multiplies.
    if (input == kMultiplier) return 2 * change * answers_.naive.largest_logit;
    if (IsTable(input)) return 2 * change;
    double largest = 0;
    for (const auto& x : answers_.inputs.inputs) {
      largest = std::max(largest, Largest(x));
    }
    return 2 * change * problem_.scale * largest;
  }

  // `term`, or the rounding of so many outputs: gradients of logits are taken
  // from them, each rounded.
  double Most(double term, int64_t outputs) const {
    const double output = Epsilon(problem_.type) / kFp32;
    return std::max(term, output * std::sqrt(static_cast<double>(outputs)));
  }

  template <typename Member>
  void Compare(const std::string& name, double term, const Member& member) {
    const std::vector<double>& right = member(answers_.judge);
    const double x = Largest(right);
    const double logit = answers_.naive.largest_logit;
    const double rounding =
        std::max({Epsilon(problem_.type) * x, kFp32 * logit * x, kFp32 * term});
    const double naive = Distance(member(answers_.naive.tensors), right);
    Expect(name, Distance(member(found_), right), 2 * naive + rounding);
  }

  void CompareLogSums() {
    const std::vector<double>& right = answers_.judge.lse_BHT;
    const double largest =
        std::max(answers_.naive.largest_logit,
                 std::log(static_cast<double>(problem_.keys)));
    const double naive = Distance(answers_.naive.tensors.lse_BHT, right);
    Expect("lse", Distance(found_.lse_BHT, right),
           2 * naive + kFp32 * largest / std::log(2.0));
  }

  void Expect(const std::string& name, double error, double bound) {
    if (!(error <= bound)) misses_.push_back({name, error, bound});
  }

  const Problem& problem_;
  const Answers& answers_;
  const Tensors& found_;
  std::vector<Miss> misses_;
};

}  // namespace

double Distance(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() != y.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i]) continue;
    const double difference = std::abs(x[i] - y[i]);
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

void Judge(const Case& c) { Judged().emplace(KeyOf(c), MakeAnswers(c)); }

std::vector<Miss> MissesOf(const Case& c, const Kernel& kernel,
                           const RunOptions& options) {
  const Answers& answers = AnswersTo(c);
  Tensors found = answers.inputs;
  const std::string trouble = RunKernel(c.problem, kernel, options, &found);
  if (!trouble.empty()) return {{trouble}};
  return Comparison(c.problem, answers, found).Run();
}

}  // namespace ordo::kernels::attention::check
