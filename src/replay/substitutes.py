"""The same mathematics through other operators, for those that belong to one vendor's library. They
make an entry run where that library is not; their time is that of other kernels, and the result says
so."""

import math

import torch

aten = torch.ops.aten


def conv(self, weight, bias=None, padding=(), stride=(), dilation=(), groups=1, transposed=False,
         output_padding=()):
    rank = self.dim() - 2
    return aten.convolution.default(self, weight, bias, stride, padding, dilation, transposed,
                                    list(output_padding) or [0] * rank, groups)


def vendor_convolution(values):
    return lambda: conv(values["self"], values["weight"], values.get("bias"), values["padding"],
                        values["stride"], values["dilation"], values["groups"])


def vendor_convolution_transpose(values):
    return lambda: conv(values["self"], values["weight"], values.get("bias"), values["padding"],
                        values["stride"], values["dilation"], values["groups"], True,
                        values["output_padding"])


def vendor_batch_norm(values):
    momentum = values.get("exponential_average_factor", values.get("momentum"))
    return lambda: aten.native_batch_norm.default(
        values["input"], values["weight"], values["bias"], values["running_mean"],
        values["running_var"], values["training"], momentum, values["epsilon"])


def vendor_batch_norm_backward(values):
    weight = values["weight"]
    mask = [True, weight is not None, weight is not None]
    grad = values["grad_output"]
    mean, var = values["save_mean"], values["save_var"]
    return lambda: aten.native_batch_norm_backward.default(
        grad, values["input"], weight, values["running_mean"], values["running_var"], mean, var,
        True, values["epsilon"], mask)


def softmax_attention(query, key, value, scale, causal):
    """(batch, heads, tokens, size), with as many key heads as divide the query's."""
    heads = query.shape[1]
    if key.shape[1] != heads and key.shape[1] > 0:
        key = key.repeat_interleave(heads // key.shape[1], 1)
        value = value.repeat_interleave(heads // value.shape[1], 1)
    scores = query @ key.transpose(-2, -1) * (scale or 1 / math.sqrt(query.shape[-1]))
    if causal:
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(mask, -math.inf)
    return torch.softmax(scores, -1) @ value


def attention_of_tokens(values):
    """Operators that take (batch, tokens, heads, size)."""
    def run():
        tensors = [values[name] for name in ("query", "key", "value")]
        if tensors[0].dim() == 3:  # packed: one sequence
            tensors = [tensor.unsqueeze(0) for tensor in tensors]
        query, key, value = (tensor.transpose(1, 2) for tensor in tensors)
        causal = bool(values.get("is_causal") or values.get("custom_mask_type"))
        return softmax_attention(query, key, value, values.get("scale"), causal)
    return run


def attention_of_heads(values):
    """Operators that take (batch, heads, tokens, size)."""
    return lambda: softmax_attention(values["query"], values["key"], values["value"],
                                     values.get("scale"), bool(values.get("is_causal")))


def rms_norm(values):
    def run():
        x, weight = values["input"], values["weight"]
        dims = tuple(range(-len(values["normalized_shape"]), 0))
        rstd = torch.rsqrt(x.pow(2).mean(dims, keepdim=True) + (values["eps"] or 1e-6))
        return x * rstd if weight is None else x * rstd * weight
    return run


def rms_norm_backward(values):
    def run():
        grad, x, rstd = values["grad_out"], values["input"], values["rstd"]
        weight = values["weight"]
        dims = tuple(range(-len(values["normalized_shape"]), 0))
        scaled = grad if weight is None else grad * weight
        normal = x * rstd
        grad_input = rstd * (scaled - normal * (scaled * normal).mean(dims, keepdim=True))
        return grad_input, (grad * normal).flatten(0, -len(dims) - 1).sum(0)
    return run


def foreach_copy(values):
    def run():
        for target, source in zip(values["self"], values["src"]):
            target.copy_(source)
    return run


def convolution_gradient(values, of_input):
    """The older pair of operators, which get a size instead of the tensor."""
    grad, known = values["grad_output"], values["weight" if of_input else "self"]
    size = values["self_size" if of_input else "weight_size"]
    made = torch.empty(size, dtype=grad.dtype, device=grad.device)
    tensors = (made, known) if of_input else (known, made)
    return lambda: aten.convolution_backward.default(
        grad, *tensors, None, values["stride"], values["padding"], values["dilation"], False,
        [0] * (grad.dim() - 2), values["groups"], [of_input, not of_input, False])


SUBSTITUTES = {
    "aten::cudnn_convolution": vendor_convolution,
    "aten::miopen_convolution": vendor_convolution,
    "aten::cudnn_convolution_transpose": vendor_convolution_transpose,
    "aten::miopen_convolution_transpose": vendor_convolution_transpose,
    "aten::miopen_depthwise_convolution": vendor_convolution,
    "aten::cudnn_convolution_backward_input": lambda v: convolution_gradient(v, True),
    "aten::cudnn_convolution_backward_weight": lambda v: convolution_gradient(v, False),
    "aten::cudnn_batch_norm": vendor_batch_norm,
    "aten::miopen_batch_norm": vendor_batch_norm,
    "aten::cudnn_batch_norm_backward": vendor_batch_norm_backward,
    "aten::miopen_batch_norm_backward": vendor_batch_norm_backward,
    "aten::_flash_attention_forward": attention_of_tokens,
    "aten::_efficient_attention_forward": attention_of_tokens,
    "aten::_scaled_dot_product_flash_attention": attention_of_heads,
    "aten::_scaled_dot_product_efficient_attention": attention_of_heads,
    "aten::_scaled_dot_product_cudnn_attention": attention_of_heads,
    "aten::scaled_dot_product_attention": attention_of_heads,
    "aten::_fused_rms_norm": rms_norm,
    "aten::_fused_rms_norm_backward": rms_norm_backward,
    "aten::_foreach_copy_": foreach_copy,
}


def substitute_for(name, values):
    """A call without arguments that does the same, or None."""
    make = SUBSTITUTES.get(name)
    return None if make is None else make(values)
