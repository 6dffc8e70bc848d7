#ifndef ORDO_MODEL_FORMATS_ROPE_KEYS_H_
#define ORDO_MODEL_FORMATS_ROPE_KEYS_H_

#include "model/formats/config_keys.h"
#include "proto/ordo/training/v1/component.pb.h"

// What Hugging Face's configurations say of rotary encoding.

namespace ordo::model::formats {

struct RopeDefaults {
  double base = 10000.0;
  double partial = 1.0;
  // What a file that does not say max_position_embeddings means.
  int max_positions = 2048;
};

// Without `given`, the encoding of the keys rope_theta (rotary_emb_base),
// partial_rotary_factor (rotary_pct), max_position_embeddings and rope_scaling
// or rope_parameters. What is wrong is left with `keys`. With `given`, that
// one, and the keys decide nothing.
ordo::training::v1::Component ReadRope(
    const RopeDefaults& defaults, const ordo::training::v1::Component* given,
    ConfigKeys* keys);

// Sets those keys of `json` for a resolved encoding; false where there are none
// that say the same.
bool WriteRope(const ordo::training::v1::Component& encoding, Json* json);

}  // namespace ordo::model::formats

#endif  // ORDO_MODEL_FORMATS_ROPE_KEYS_H_
