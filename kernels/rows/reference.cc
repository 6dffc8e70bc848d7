#include "kernels/rows/reference.h"

#include <algorithm>
#include <cmath>

namespace ordo::kernels::rows {

void ReferenceTurn(const Rotation& r, RotationTensors* x) {
  const int64_t half = r.channels / 2;
  x->y = x->x;
  x->d_x = x->d_y;
  x->d_table.assign(x->table.size(), 0);
  for (int64_t row = 0; row < r.batch * r.heads * r.tokens; ++row) {
    const double* const in = &x->x[row * r.width];
    const double* const d_y = &x->d_y[row * r.width];
    for (int64_t f = 0; f < half; ++f) {
      const double c = x->table[row * r.channels + f];
      const double s = x->table[row * r.channels + half + f];
      const int64_t first = r.interleaved ? 2 * f : f;
      const int64_t second = r.interleaved ? 2 * f + 1 : f + half;
      const double a = in[first], b = in[second];
      const double d_a = d_y[f], d_b = d_y[f + half];
      x->y[row * r.width + f] = a * c - b * s;
      x->y[row * r.width + half + f] = b * c + a * s;
      x->d_x[row * r.width + first] = d_a * c + d_b * s;
      x->d_x[row * r.width + second] = d_b * c - d_a * s;
      x->d_table[row * r.channels + f] = d_a * a + d_b * b;
      x->d_table[row * r.channels + half + f] = d_b * a - d_a * b;
    }
  }
}

void ReferenceNorm(const Norm& norm, NormTensors* x) {
  const auto width = static_cast<double>(norm.width);
  x->y_NC.resize(x->x_NC.size());
  x->d_x_NC.resize(x->x_NC.size());
  x->d_weight_C.assign(norm.width, 0);
  for (int64_t n = 0; n < norm.rows; ++n) {
    const double* const in = &x->x_NC[n * norm.width];
    const double* const d_y = &x->d_y_NC[n * norm.width];
    double squares = 0, along = 0;
    for (int64_t c = 0; c < norm.width; ++c) {
      squares += in[c] * in[c];
      along += d_y[c] * x->weight_C[c] * in[c];
    }
    const double scale = 1 / std::sqrt(squares / width + norm.epsilon);
    for (int64_t c = 0; c < norm.width; ++c) {
      const int64_t i = n * norm.width + c;
      x->y_NC[i] = in[c] * scale * x->weight_C[c];
      x->d_x_NC[i] = d_y[c] * x->weight_C[c] * scale -
                     in[c] * scale * scale * scale * along / width;
      x->d_weight_C[c] += d_y[c] * in[c] * scale;
    }
  }
}

void ReferenceGate(const Gate& gate, GateTensors* x) {
  const int64_t count = gate.rows * gate.width;
  x->y_NC.resize(count);
  x->d_gate_NC.resize(count);
  x->d_up_NC.resize(count);
  for (int64_t i = 0; i < count; ++i) {
    const double g = x->gate_NC[i], u = x->up_NC[i], d = x->d_y_NC[i];
    const double open = 1 / (1 + std::exp(-g));
    x->y_NC[i] = g * open * u;
    x->d_up_NC[i] = d * g * open;
    x->d_gate_NC[i] = d * u * (open + g * open * (1 - open));
  }
}

void ReferenceAdam(const Adam& adam, AdamTensors* x) {
  for (size_t i = 0; i < x->gradient.size(); ++i) {
    const double g = x->gradient[i] * adam.gradient_scale;
    double &m = x->m[i], &v = x->v[i], &p = x->parameter[i];
    m = adam.beta1 * m + adam.one_less_beta1 * g;
    v = adam.beta2 * v + adam.one_less_beta2 * g * g;
    p = adam.keep * p -
        adam.step * m / (std::sqrt(v) / adam.root + adam.epsilon);
  }
}

void ReferenceLoss(const Loss& loss, LossTensors* x) {
  x->loss_N.resize(loss.rows);
  x->log_sum_N.resize(loss.rows);
  x->d_logits_NC.resize(x->logits_NC.size());
  for (int64_t n = 0; n < loss.rows; ++n) {
    const double* const row = &x->logits_NC[n * loss.width];
    const double largest = *std::max_element(row, row + loss.width);
    double sum = 0;
    for (int64_t c = 0; c < loss.width; ++c) sum += std::exp(row[c] - largest);
    const double log_sum = largest + std::log(sum);
    const int64_t target = x->targets_N[n];
    x->log_sum_N[n] = log_sum;
    x->loss_N[n] = log_sum - row[target];
    for (int64_t c = 0; c < loss.width; ++c) {
      x->d_logits_NC[n * loss.width + c] =
          loss.factor * (std::exp(row[c] - log_sum) - (c == target ? 1 : 0));
    }
  }
}

}  // namespace ordo::kernels::rows
