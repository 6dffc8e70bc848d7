"""Those cases of tools/golden/published.py whose logits depend on content."""

import ast
import importlib.util
import math
import os
import random

from tools.golden.encoding_cases import ATTENTION
from tools.golden.encoding_cases import HEADS
from tools.golden.encoding_cases import LENGTH
from tools.golden.encoding_cases import WIDTH


def nested(tensor):
    return tensor.detach().tolist()


class Random:
    """Normal numbers of three digits, the same on every run."""

    def __init__(self, name):
        import torch
        self.generator = torch.Generator().manual_seed(sum(map(ord, name)))

    def __call__(self, *shape, scale=1.0):
        import torch
        values = torch.randn(shape, generator=self.generator,
                             dtype=torch.float64)
        return (scale * values).round(decimals=3)


class Maker:
    """Cases of one piece of code; `versions` by package or repository."""

    def __init__(self, source, versions):
        self.source = source
        self.versions = versions
        self.cases = []

    def add(self, made_with, encoding, expected, **more):
        """`expected` is (what, values): see tests/golden/encodings_test.cc."""
        case = {"made_with": "%s %s" % (made_with, self.versions[
            made_with.split()[0]]), "encoding": encoding, "heads": HEADS,
                "head_width": WIDTH}
        case.update(more)
        what, values = expected
        case["expected"] = {what: nested(values)}
        for key in ("inputs", "parameters"):
            case[key] = {name: nested(value)
                         for name, value in case.get(key, {}).items()}
        self.cases.append(case)

    def module(self, repository, path):
        """A file by itself."""
        path = os.path.join(self.source, repository, path)
        spec = importlib.util.spec_from_file_location("published", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def classes(self, repository, path, names, **scope):
        """Classes and functions of a file, without running the rest of it."""
        import torch
        with open(os.path.join(self.source, repository, path)) as file:
            tree = ast.parse(file.read())
        tree.body = [node for node in tree.body
                     if getattr(node, "name", "") in names]
        scope.update(torch=torch, nn=torch.nn, F=torch.nn.functional,
                     math=math, random=random, Parameter=torch.nn.Parameter)
        exec(compile(tree, path, "exec"), scope)
        return [scope[name] for name in names]


def q_and_k(name, *more):
    """Random q and k [1,H,T,D], and further ones."""
    random_values = Random(name)
    return {key: random_values(1, HEADS, LENGTH, WIDTH)
            for key in ("q", "k") + more}


def heads(x):
    """[1,T,C] to [1,H,T,D]."""
    return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)


def bert(maker):
    from transformers import BertConfig
    from transformers.models.bert.modeling_bert import BertSelfAttention
    for kind, name in (("relative_key", "shaw"),
                       ("relative_key_query", "huang4")):
        config = BertConfig(hidden_size=HEADS * WIDTH, attention_dropout=0.0,
                            num_attention_heads=HEADS,
                            max_position_embeddings=LENGTH,
                            position_embedding_type=kind)
        module = BertSelfAttention(config).double().eval()
        table = Random(name)(2 * LENGTH - 1, WIDTH)
        module.distance_embedding.weight.copy_(table)
        hidden = Random("hidden")(1, LENGTH, HEADS * WIDTH)
        weights = module(hidden, output_attentions=True)[1]
        shaw = name == "shaw"
        maker.add("transformers BertSelfAttention",
                  {"name": name, "params": {
                      "max_distance": LENGTH - 1 if shaw else LENGTH}},
                  ("weights", weights), causal=False,
                  inputs={"q": heads(module.query(hidden)),
                          "k": heads(module.key(hidden))},
                  parameters={ATTENTION + (
                      "shaw.key.weight" if shaw else
                      "huang.distance.weight"): table})


def capped(maker):
    import torch
    from transformers import Wav2Vec2BertConfig
    from transformers.models.wav2vec2_bert.modeling_wav2vec2_bert import (
        Wav2Vec2BertSelfAttention)
    k = 2
    config = Wav2Vec2BertConfig(
        hidden_size=HEADS * WIDTH, num_attention_heads=HEADS,
        position_embeddings_type="relative_key",
        left_max_position_embeddings=k, right_max_position_embeddings=k,
        attention_dropout=0.0)
    module = Wav2Vec2BertSelfAttention(config).double().eval()
    table = Random("capped")(2 * k + 1, WIDTH)
    # Theirs counts from the query to the key.
    module.distance_embedding.weight.copy_(table.flip(0))
    hidden = Random("hidden")(1, LENGTH, HEADS * WIDTH)
    q, key = heads(module.linear_q(hidden)), heads(module.linear_k(hidden))
    mask = torch.full((LENGTH, LENGTH), -math.inf).triu(1).double()
    for causal in (False, True):
        weights = module(hidden, mask if causal else None,
                         output_attentions=True)[1]
        maker.add("transformers Wav2Vec2BertSelfAttention",
                  {"name": "shaw", "params": {"max_distance": k}},
                  ("weights", weights), causal=causal,
                  inputs={"q": q, "k": key},
                  parameters={ATTENTION + "shaw.key.weight":
                              table[k:] if causal else table})


def deberta(maker):
    import torch
    from transformers import DebertaConfig
    from transformers.models.deberta import modeling_deberta
    k = 3
    config = DebertaConfig(
        hidden_size=HEADS * WIDTH, num_attention_heads=HEADS,
        relative_attention=True, pos_att_type=["c2p", "p2c"],
        max_relative_positions=k, attention_probs_dropout_prob=0.0,
        hidden_dropout_prob=0.0)
    module = modeling_deberta.DisentangledSelfAttention(config).double().eval()
    random_values = Random("deberta")
    hidden = random_values(1, LENGTH, HEADS * WIDTH)
    positions = random_values(2 * k, HEADS * WIDTH)
    for tensor in module.parameters():
        tensor.copy_(random_values(*tensor.shape, scale=0.4))
    made = {}
    module.dropout.register_forward_hook(
        lambda _, inputs, output: made.update(weights=output))
    # A row of each distance from 0 on, so that the code takes all of them.
    pairs = torch.arange(LENGTH)
    relative = (pairs[:, None] - pairs[None, :]).unsqueeze(0)
    q, key, _ = module.transpose_for_scores(
        module.in_proj(hidden)).chunk(3, dim=-1)
    q = q + module.transpose_for_scores(module.q_bias[None, None, :])
    module(hidden, torch.ones(1, 1, LENGTH, LENGTH), relative_pos=relative,
           rel_embeddings=positions)
    maker.add("transformers DisentangledSelfAttention",
              {"name": "deberta", "params": {"max_distance": k}},
              ("weights", made["weights"]), causal=False, single=True,
              inputs={"q": q, "k": key},
              parameters={
                  "model.deberta.positions.weight": positions,
                  ATTENTION + "deberta.query_proj.weight":
                      module.pos_q_proj.weight,
                  ATTENTION + "deberta.query_proj.bias":
                      module.pos_q_proj.bias,
                  ATTENTION + "deberta.key_proj.weight":
                      module.pos_proj.weight})


def transformer_xl(maker):
    import torch
    names = ["PositionalEmbedding", "RelMultiHeadAttn",
             "RelPartialLearnableMultiHeadAttn"]
    embedding, _, make = maker.classes("transformer-xl",
                                       "pytorch/mem_transformer.py", names)
    width = HEADS * WIDTH
    random_values = Random("transformer_xl")
    module = make(HEADS, width, WIDTH, 0.0).double().eval()
    u, v = random_values(HEADS, WIDTH), random_values(HEADS, WIDTH)
    made = {}
    module.dropatt.register_forward_hook(
        lambda _, inputs, output: made.update(weights=output))
    tokens = random_values(LENGTH, 1, width)
    q, k, _ = (heads(x.transpose(0, 1))
               for x in module.qkv_net(tokens).chunk(3, -1))
    # Once in one segment, once the last two tokens over a memory; and with
    # distances clamped.
    for memory, clamp in ((0, -1), (LENGTH - 2, -1), (0, 2)):
        places = torch.arange(LENGTH - 1, -1, -1.0, dtype=torch.float64)
        if clamp > 0:
            places.clamp_(max=clamp)
        new = LENGTH - memory
        mask = torch.ones(new, LENGTH).triu(1 + memory).bool()[:, :, None]
        module(tokens[memory:], embedding(width).double()(places), u, v,
               attn_mask=mask, mems=tokens[:memory] if memory else None)
        weights = made["weights"].permute(2, 3, 0, 1)
        params = {"clamp_length": clamp} if clamp > 0 else {}
        maker.add("transformer-xl RelPartialLearnableMultiHeadAttn",
                  {"name": "transformer_xl", "params": params},
                  ("weights", weights), single=True,
                  inputs={"q": q, "k": k},
                  parameters={
                      "model.transformer_xl.key_bias": u,
                      "model.transformer_xl.distance_bias": v,
                      ATTENTION + "transformer_xl.distance_proj.weight":
                          module.r_net.weight})


def cope(maker):
    import torch
    from x_transformers.x_transformers import CoPE
    inputs = q_and_k("cope")
    logits = inputs["q"] @ inputs["k"].transpose(2, 3) / math.sqrt(WIDTH)
    seen = torch.ones(LENGTH, LENGTH).tril().bool()
    masked = logits.masked_fill(~seen, -math.inf)
    for rows in (3, LENGTH + 1):
        module = CoPE(WIDTH, HEADS, rows).double()
        table = Random("cope table")(rows, WIDTH)
        module.pos_emb.copy_(table)
        maker.add("x-transformers CoPE",
                  {"name": "cope", "params": {"max_position": rows}},
                  ("scores", logits + module(inputs["q"], masked)),
                  inputs=inputs,
                  parameters={ATTENTION + "cope.positions.weight": table})


MAKERS = (bert, capped, deberta, transformer_xl, cope)
