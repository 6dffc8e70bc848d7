#include "kernels/attention/check/covering.h"

#include <array>
#include <set>

namespace ordo::kernels::attention::check {
namespace {

// One of the choices of an axis.
struct Choice {
  int axis;
  int value;
};

// Of an axis without a choice yet.
constexpr int kOpen = -1;

class Covering {
 public:
  Covering(const std::vector<int>& sizes,
           const std::function<bool(const Row& row)>& may_be)
      : sizes_(sizes), may_be_(may_be) {
    for (int a = 0; a < axes(); ++a) {
      used_.emplace_back(sizes_[a], 0);
      for (int b = a + 1; b < axes(); ++b) AddPairs(a, b);
    }
  }

  std::vector<Row> Run() {
    std::vector<Row> rows;
    while (!left_.empty()) {
      rows.push_back(MakeRow());
      const Row& row = rows.back();
      for (int a = 0; a < axes(); ++a) {
        ++used_[a][row[a]];
        for (int b = 0; b < a; ++b) {
          left_.erase(PairOf({b, row[b]}, {a, row[a]}));
        }
      }
    }
    return rows;
  }

 private:
  // Of the axis with the lower number first.
  using Pair = std::array<int, 4>;

  int axes() const { return static_cast<int>(sizes_.size()); }

  static Pair PairOf(const Choice& a, const Choice& b) {
    if (b.axis < a.axis) return PairOf(b, a);
    return {a.axis, b.axis, a.value, b.value};
  }

  Row Open() const { return Row(sizes_.size(), kOpen); }

  // The row with a choice more, and the first of those that are open.
  bool MayBe(Row row, const Choice& choice) const {
    row[choice.axis] = choice.value;
    for (int& value : row) {
      if (value == kOpen) value = 0;
    }
    return may_be_(row);
  }

  void AddPairs(int a, int b) {
    for (int i = 0; i < sizes_[a]; ++i) {
      Row row = Open();
      row[a] = i;
      for (int j = 0; j < sizes_[b]; ++j) {
        if (MayBe(row, {b, j})) left_.insert(PairOf({a, i}, {b, j}));
      }
    }
  }

  // How many pairs that are left a choice makes with those of the row.
  int Gain(const Row& row, const Choice& choice) const {
    int gain = 0;
    for (int a = 0; a < axes(); ++a) {
      if (row[a] == kOpen) continue;
      gain += static_cast<int>(left_.count(PairOf({a, row[a]}, choice)));
    }
    return gain;
  }

  // Of as good ones that which was taken least. The first may always be.
  int BestOf(const Row& row, int axis) const {
    int best = 0, most = -1;
    for (int value = 0; value < sizes_[axis]; ++value) {
      if (!MayBe(row, {axis, value})) continue;
      const int gain = Gain(row, {axis, value});
      const bool is_rarer = used_[axis][value] < used_[axis][best];
      if (gain < most || (gain == most && !is_rarer)) continue;
      most = gain;
      best = value;
    }
    return best;
  }

  // From the first pair that is left.
  Row MakeRow() const {
    Row row = Open();
    const Pair first = *left_.begin();
    row[first[0]] = first[2];
    row[first[1]] = first[3];
    for (int axis = 0; axis < axes(); ++axis) {
      if (row[axis] == kOpen) row[axis] = BestOf(row, axis);
    }
    return row;
  }

  const std::vector<int>& sizes_;
  const std::function<bool(const Row& row)>& may_be_;
  std::set<Pair> left_;
  // How often a choice was taken, by axis.
  std::vector<std::vector<int>> used_;
};

}  // namespace

std::vector<Row> CoveringRows(
    const std::vector<int>& sizes,
    const std::function<bool(const Row& row)>& may_be) {
  return Covering(sizes, may_be).Run();
}

}  // namespace ordo::kernels::attention::check
