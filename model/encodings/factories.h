#ifndef ORDO_MODEL_ENCODINGS_FACTORIES_H_
#define ORDO_MODEL_ENCODINGS_FACTORIES_H_

#include "model/encodings/registry.h"

// The factories behind the registry's rows; each is defined in <name>.cc.

namespace ordo::model::encodings {

Factory MakeAbacus;
Factory MakeAlibi;
Factory MakeAxial;
Factory MakeCope;
Factory MakeDaTransformer;
Factory MakeDeberta;
Factory MakeFire;
Factory MakeGridLearned;
Factory MakeGridSinusoidal;
Factory MakeHuang1;
Factory MakeHuang2;
Factory MakeHuang3;
Factory MakeHuang4;
Factory MakeKerpleLog;
Factory MakeKerplePower;
Factory MakeLeakyReRope;
Factory MakeLearned;
Factory MakeLiere;
Factory MakeNone;
Factory MakePerLayer;
Factory MakeRandomLearned;
Factory MakeRandomPositions;
Factory MakeRandomRope;
Factory MakeRandomSinusoidal;
Factory MakeReRope;
Factory MakeRope;
Factory MakeRope2d;
Factory MakeRopeBias;
Factory MakeRopeByLength;
Factory MakeSandwich;
Factory MakeShaw;
Factory MakeSinusoidal;
Factory MakeT5;
Factory MakeTape;
Factory MakeTener;
Factory MakeTransformerXl;
Factory MakeWindowBias2d;
Factory MakeXpos;

}  // namespace ordo::model::encodings

#endif  // ORDO_MODEL_ENCODINGS_FACTORIES_H_
