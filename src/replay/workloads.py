"""Values for kernels whose work depends on them: paged attention, mixture of experts, indices of
operators outside PyTorch. A trace has no values; these make the work that its sizes speak of."""

import torch

# Positions by operator, for schemas whose names say nothing.
PAGED_ATTENTION = {"query": 4, "key_cache": 5, "block_tables": 9, "seq_lens": 10,
                   "query_start_loc": 11, "block_size": 12, "max_seq_len": 13}
MOE_STAGE = {"hidden_states": 0, "w1": 1, "sorted_token_ids": 3, "sorted_expert_ids": 4,
             "num_valid_ids": 5, "topk": 7, "block_m": 11}
NAMES = {"seq_lens": ("seq_lens", "context_lens", "seqused_k", "cache_seqlens", "kv_lens"),
         "block_tables": ("block_tables", "block_table", "page_table"),
         "query_start_loc": ("query_start_loc",),
         "hidden_states": ("hidden_states", "a"), "topk": ("topk", "top_k"),
         "num_valid_ids": ("num_valid_ids", "num_tokens_post_padded")}


class Arguments:
    """The values of a call, by name and, where names fail, by position."""

    def __init__(self, values, positions):
        self.values = values
        self.order = list(values)
        self.positions = positions

    def get(self, role, otherwise=None):
        for name in NAMES.get(role, (role,)):
            if self.values.get(name) is not None:
                return self.values[name]
        place = self.positions.get(role)
        if place is not None and place < len(self.order):
            value = self.values[self.order[place]]
            return otherwise if value is None else value
        return otherwise


def prefix_sums(lengths, out):
    """0, then sums: as many as `out` holds."""
    sums = [0]
    for length in lengths:
        sums.append(sums[-1] + length)
    flat = torch.tensor(sums[:out.numel()], dtype=out.dtype, device=out.device)
    out.view(-1)[:flat.numel()].copy_(flat)


def shares(total, parts):
    """`total` in equal parts, what is left over to the first."""
    if parts <= 0:
        return []
    each = [total // parts] * parts
    each[0] += total - sum(each)
    return each


def query_lengths(context, sequences, tokens):
    """Query tokens of each sequence: as the engine's mark around the call says, else prefill if
    there is more than one token a sequence."""
    prefills = int(context.get("prefills", 0))
    decodes = int(context.get("decodes", 0))
    if prefills + decodes == sequences:
        return shares(tokens - decodes, prefills) + [1] * decodes
    return shares(tokens, sequences)


def block_tables(tables, lengths, blocks, block_size, generator):
    """A random choice of physical blocks for each sequence, none used twice while there are
    enough of them."""
    tables.zero_()
    blocks = max(int(blocks), 1)
    order = torch.randperm(blocks, generator=generator, device=tables.device).to(tables.dtype)
    used = 0
    for row, length in enumerate(lengths):
        count = min(-(-int(length) // max(block_size, 1)), tables.shape[1])
        places = torch.arange(used, used + count, device=tables.device) % blocks
        tables[row, :count] = order[places]
        used += count


def paged_attention(args, context, generator):
    lens, tables = args.get("seq_lens"), args.get("block_tables")
    query, cache = args.get("query"), args.get("key_cache")
    if lens is None or tables is None or query is None or cache is None:
        return False
    longest = int(args.get("max_seq_len", 0) or 0)
    block_size = int(args.get("block_size", 16) or 16)
    longest = min(longest or tables.shape[1] * block_size, tables.shape[1] * block_size)
    lens.fill_(longest)
    block_tables(tables, [longest] * lens.numel(), cache.shape[0], block_size, generator)
    starts = args.get("query_start_loc")
    if starts is not None:
        prefix_sums(query_lengths(context, lens.numel(), query.shape[0]), starts)
    return True


def expert_loads(tokens, experts, skewed):
    """Tokens of each expert: evenly, or by Zipf's law with s = 1.2."""
    if not skewed:
        return [tokens // experts + (1 if e < tokens % experts else 0) for e in range(experts)]
    weights = [1 / (e + 1) ** 1.2 for e in range(experts)]
    loads = [int(tokens * weight / sum(weights)) for weight in weights]
    loads[0] += tokens - sum(loads)
    return loads


def mixture_of_experts(args, context, generator):
    """Tokens sorted by expert, each expert's padded to whole blocks. Without it such a kernel finds
    no work and returns at once."""
    hidden, weights = args.get("hidden_states"), args.get("w1")
    tokens, experts = args.get("sorted_token_ids"), args.get("sorted_expert_ids")
    valid = args.get("num_valid_ids")
    if hidden is None or weights is None or tokens is None or experts is None or valid is None:
        return False
    block = int(args.get("block_m", 32) or 32)
    routed = hidden.shape[0] * int(args.get("topk", 1) or 1)
    padding = routed  # the mark of a slot without a token
    order = torch.randperm(max(routed, 1), generator=generator, device=tokens.device)
    tokens.fill_(padding)
    experts.zero_()
    slot, taken = 0, 0
    for expert, load in enumerate(expert_loads(routed, weights.shape[0],
                                               context.get("moe_load") == "zipf")):
        padded = -(-load // block) * block
        if slot + padded > tokens.numel():
            break
        tokens.view(-1)[slot:slot + load] = order[taken:taken + load].to(tokens.dtype)
        experts.view(-1)[slot // block:(slot + padded) // block] = expert
        slot, taken = slot + padded, taken + load
    valid.view(-1)[0] = slot
    if valid.numel() > 1:
        valid.view(-1)[1] = hidden.shape[0]
    return True


def cumulative_lengths(values):
    """cu_seqlens and the like: sequences of equal length over all tokens."""
    query = next((value for name, value in values.items()
                  if name in ("query", "q") and torch.is_tensor(value)), None)
    key = next((value for name, value in values.items()
                if name in ("key", "k") and torch.is_tensor(value)), query)
    for name, value in values.items():
        if not torch.is_tensor(value) or not name.startswith(("cu_seqlen", "cum_seq", "cu_seq")):
            continue
        of = key if name.endswith("k") else query
        # Packed: (tokens, heads, size), or (1, tokens, heads, size).
        total = 0 if of is None else of.shape[1] if of.dim() == 4 and of.shape[0] == 1 else \
            of.shape[0]
        prefix_sums(shares(total, max(value.numel() - 1, 1)), value)


def indices_by_name(values, generator):
    """Ranges for the integer tensors of operators whose package names them in the usual way."""
    tables = [value for name, value in values.items() if name.endswith("cache") and
              torch.is_tensor(value)]
    for name, value in values.items():
        if not torch.is_tensor(value) or value.dtype not in (torch.int32, torch.int64):
            continue
        end = 0
        if name == "slot_mapping" and tables:
            end = tables[0].shape[0]
        elif name in ("topk_ids", "expert_ids"):
            weights = values.get("w1", values.get("w"))
            end = weights.shape[0] if torch.is_tensor(weights) else 1
        elif name in ("positions", "position_ids"):
            cache = values.get("cos_sin_cache", values.get("cos"))
            end = cache.shape[0] if torch.is_tensor(cache) else 1
        if end > 0:
            value.copy_(torch.randint(0, end, value.shape, generator=generator,
                                      device=value.device))


CUSTOM = {
    "_rocm_C::paged_attention": (paged_attention, PAGED_ATTENTION),
    "aiter::ck_moe_stage1": (mixture_of_experts, MOE_STAGE),
    "aiter::ck_moe_stage2": (mixture_of_experts, MOE_STAGE),
}


def adjust(entry, values, generator):
    """Sets what the sizes alone do not say. -> a word about it, or None."""
    cumulative_lengths(values)
    name = entry["op_name"]
    if not name.startswith("aten::"):
        indices_by_name(values, generator)
    function, positions = CUSTOM.get(name, (None, {}))
    if function is None and "paged_attention" in name:
        function = paged_attention
    if function is None:
        return None
    done = function(Arguments(values, positions), entry.get("context") or {}, generator)
    return None if done else f"{name}: its tables could not be filled, so its time means little"
