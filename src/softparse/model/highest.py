"""The maximum over a word's letters of a sum of rows: the convolution of the character encoder.

There are fewer characters than letters in a batch, so the filters are applied to the characters, and what a filter sees
around a letter is a sum of rows of that table. Only real letters are looked at: most words are short.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..trees.kernels.compiled import Int, array, compiled
from .joining import has_kernel


def highest(table: Tensor, spellings: Tensor) -> Tensor:
    """[forms, output] from a table [characters, width, output] and the characters [forms, letters], 0 after the end.

    A filter stands with its middle on each letter in turn; beyond the word it sees character 0.
    """
    if has_kernel(table):
        return _Highest.apply(table, spellings)
    return plainly(table, spellings)


def plainly(table: Tensor, spellings: Tensor) -> Tensor:
    width = table.shape[1]
    padded = nn.functional.pad(spellings, (width // 2, width - 1 - width // 2))
    is_letter = spellings > 0
    around = padded.unfold(1, width, 1)[is_letter]  # [letters, width]
    rows = around * width + torch.arange(width, device=around.device)
    features = nn.functional.embedding_bag(rows, table.flatten(0, 1), mode="sum")
    return torch.segment_reduce(features, "max", lengths=is_letter.sum(1), unsafe=True)


class _Highest(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, spellings: Tensor) -> Tensor:
        values = table.new_empty(len(spellings), table.shape[2])
        places = torch.empty(values.shape, dtype=torch.int64)
        ctx.spellings, ctx.places, ctx.shape = spellings, places, table.shape
        _run(_take, table, spellings, values, places)
        return values

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        slope = gradients[0].new_zeros(ctx.shape)
        _run(_give_back, slope, ctx.spellings, gradients[0], ctx.places)
        return slope, None


def _run(kernel: Any, *tensors: Tensor) -> None:
    arrays = [tensor.detach().contiguous().numpy() for tensor in tensors]
    kernel(arrays[0].dtype, *arrays)


def _arguments(element: Any) -> tuple:
    return array(element, 3), array(Int, 2), array(element, 2), array(Int, 2)


@compiled(_arguments)
def _take(table, spellings, values, places):
    width, output = table.shape[1], table.shape[2]
    letters = spellings.shape[1]
    seen = np.empty(output, table.dtype)
    for form in range(spellings.shape[0]):
        for letter in range(letters):
            if spellings[form, letter] == 0:
                break
            seen[:] = 0
            for place in range(width):
                at = letter + place - width // 2
                row = table[spellings[form, at] if 0 <= at < letters else 0, place]
                for k in range(output):
                    seen[k] += row[k]
            for k in range(output):
                if letter == 0 or seen[k] > values[form, k]:
                    values[form, k] = seen[k]
                    places[form, k] = letter


@compiled(_arguments)
def _give_back(slope, spellings, gradient, places):
    width, output = slope.shape[1], slope.shape[2]
    letters = spellings.shape[1]
    for form in range(spellings.shape[0]):
        for place in range(width):
            for k in range(output):
                at = places[form, k] + place - width // 2
                slope[spellings[form, at] if 0 <= at < letters else 0, place, k] += gradient[form, k]
