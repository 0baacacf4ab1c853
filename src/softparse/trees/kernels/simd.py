"""Explicit SIMD for Numba: a vector of `LANES` numbers as a first-class value.

Each lane holds one sentence, so a kernel written with these operations parses `LANES` sentences at once and keeps
its accumulators in registers, without asking the auto-vectoriser for anything. Every operation is IEEE arithmetic,
lane by lane, in program order (no fast-math flag anywhere): a lane's result never depends on its neighbours, nor on
which lane it is, and infinities behave.

A vector is loaded from and stored to a flat array at an element offset. Vectors of float64 ("wide") carry chart
weights, vectors of the caller's dtype carry probabilities and gradients.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, overload, register_model

LANES = 8


class VectorType(types.Type):
    """`LANES` numbers of one element type, an LLVM `<LANES x element>`."""

    def __init__(self, element: types.Type):
        self.element = element
        super().__init__(name=f"softparse.Vector({element} x {LANES})")


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector_type):
        super().__init__(manager, vector_type, _llvm_type(vector_type.element))


def _llvm_type(element: types.Type) -> ir.VectorType:
    scalar = {
        types.float32: ir.FloatType(),
        types.float64: ir.DoubleType(),
        types.boolean: ir.IntType(1),
    }[element]
    return ir.VectorType(scalar, LANES)


def _splat(value: float, vector: ir.VectorType) -> ir.Constant:
    return ir.Constant(vector, [ir.Constant(vector.element, value)] * LANES)


def _address(context, builder, vector, array_type, array, offset):
    data = context.make_array(array_type)(context, builder, array).data
    pointer = builder.gep(data, [offset], inbounds=True)
    return builder.bitcast(pointer, vector.as_pointer())


@intrinsic
def load(typing_context, array, offset):
    """The vector at `array[offset : offset + LANES]`."""
    result = VectorType(array.dtype)

    def generate(context, builder, signature, arguments):
        address = _address(context, builder, _llvm_type(array.dtype), signature.args[0], *arguments)
        return builder.load(address, align=array.dtype.bitwidth // 8)

    return result(array, types.intp), generate


@intrinsic
def store(typing_context, array, offset, value):
    """Write the vector to `array[offset : offset + LANES]`."""

    def generate(context, builder, signature, arguments):
        address = _address(context, builder, _llvm_type(array.dtype), signature.args[0], *arguments[:2])
        builder.store(arguments[2], address, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, value), generate


@intrinsic
def splat(typing_context, value, like):
    """The number `value` in every lane, as a vector of the element type of the array `like`."""
    element = like.dtype

    def generate(context, builder, signature, arguments):
        number = context.cast(builder, arguments[0], value, element)
        vector = ir.Constant(_llvm_type(element), ir.Undefined)
        for lane in range(LANES):
            vector = builder.insert_element(vector, number, ir.IntType(32)(lane))
        return vector

    return VectorType(element)(value, like), generate


def _elementwise(name: str):
    """An intrinsic for one LLVM instruction on two vectors of the same type."""

    @intrinsic
    def binary(typing_context, left, right):
        if not (isinstance(left, VectorType) and left == right):
            return None

        def generate(context, builder, signature, arguments):
            return getattr(builder, name)(*arguments)

        return left(left, right), generate

    return binary


for _operator, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):

    def _register(function, instruction):
        implementation = _elementwise(instruction)

        @overload(function)
        def _binary(left, right):
            if isinstance(left, VectorType) and left == right:
                return lambda left, right: implementation(left, right)
            return None

    _register(_operator, _instruction)


@intrinsic
def maximum(typing_context, left, right):
    """The greater of the two, lane by lane (neither may be NaN)."""

    def generate(context, builder, signature, arguments):
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return left(left, right), generate


@intrinsic
def fused(typing_context, left, right, addend):
    """left · right + addend, rounded once."""

    def generate(context, builder, signature, arguments):
        return _fma(builder, *arguments)

    return left(left, right, addend), generate


def _fma(builder, left, right, addend):
    vector = left.type
    suffix = f"v{LANES}f{32 if vector.element == ir.FloatType() else 64}"
    function = builder.module.declare_intrinsic(f"llvm.fma.{suffix}", (), ir.FunctionType(vector, [vector] * 3))
    return builder.call(function, [left, right, addend])


@intrinsic
def narrow(typing_context, wide, like):
    """A float64 vector as a vector of the element type of the array `like`."""
    element = like.dtype

    def generate(context, builder, signature, arguments):
        if element == types.float64:
            return arguments[0]
        return builder.fptrunc(arguments[0], _llvm_type(element))

    return VectorType(element)(wide, like), generate


@intrinsic
def widen(typing_context, value):
    """A vector as float64."""

    def generate(context, builder, signature, arguments):
        if value.element == types.float64:
            return arguments[0]
        return builder.fpext(arguments[0], _llvm_type(types.float64))

    return VectorType(types.float64)(value), generate


@intrinsic
def where_possible(typing_context, weight, value, otherwise):
    """`value` in the lanes where `weight` is above -inf, `otherwise` in the others."""

    def generate(context, builder, signature, arguments):
        test, value_, otherwise_ = arguments
        possible = builder.fcmp_ordered(">", test, _splat(float("-inf"), test.type))
        return builder.select(possible, value_, otherwise_)

    return value(weight, value, otherwise), generate


@intrinsic
def at_least(typing_context, value, least):
    """`value` in the lanes where it is at least `least`, 0 in the others."""

    def generate(context, builder, signature, arguments):
        enough = builder.fcmp_ordered(">=", *arguments)
        return builder.select(enough, arguments[0], _splat(0.0, arguments[0].type))

    return value(value, least), generate


@intrinsic
def any_nonzero(typing_context, value):
    """Whether some lane is not zero."""

    def generate(context, builder, signature, arguments):
        differs = builder.fcmp_unordered("!=", arguments[0], _splat(0.0, arguments[0].type))
        bits = builder.bitcast(differs, ir.IntType(LANES))
        return builder.icmp_unsigned("!=", bits, ir.IntType(LANES)(0))

    return types.boolean(value), generate


# exp(x) = 2^k · exp(r) with k = round(x / ln 2) and |r| <= ln 2 / 2; ln 2 is split in two so that r is exact. exp(r) is
# the polynomial of least relative error there (Remez): 1.9e-9 for float32, 3.1e-18 for float64. Adding and subtracting
# `rounder` rounds to the nearest integer and leaves that integer in the low bits of the sum.
_EXPONENTIAL: dict[ir.Type, dict[str, Any]] = {
    ir.FloatType(): {
        "coefficients": (
            1.000000000554606254, 1.000000036344639804, 0.4999999207510098284, 0.1666642007244513939,
            0.04166822618847283934, 0.00837482403066280796, 0.001383683574479838541,
        ),
        "high": 0.693359375,
        "low": -2.12194440e-4,
        "rounder": 12582912.0,
        "mantissa": 23,
        "integer": 32,
        "smallest": -87.0,
    },
    ir.DoubleType(): {
        "coefficients": (
            0.9999999999999999971, 1.00000000000000003, 0.5000000000000017703, 0.166666666666661682,
            0.04166666666649262968, 0.008333333333559433932, 0.001388888895126104161, 0.0001984126943247048834,
            0.00002480148648143640087, 2.755762262047198039e-6, 2.763230817489448582e-7, 2.499430327381439512e-8,
        ),
        "high": 6.93145751953125e-1,
        "low": 1.42860682030941723212e-6,
        "rounder": 6755399441055744.0,
        "mantissa": 52,
        "integer": 64,
        "smallest": -708.0,
    },
}  # fmt: skip


@intrinsic
def exponential(typing_context, value):
    """exp, lane by lane, of numbers up to 88; exactly 0 where exp leaves the normal numbers, at -inf too."""

    def generate(context, builder, signature, arguments):
        (x,) = arguments
        vector, constants = x.type, _EXPONENTIAL[x.type.element]

        def number(constant):
            return _splat(constant, vector)

        shifted = _fma(builder, x, number(1 / math.log(2.0)), number(constants["rounder"]))
        power = builder.fsub(shifted, number(constants["rounder"]))
        rest = _fma(builder, power, number(-constants["high"]), x)
        rest = _fma(builder, power, number(-constants["low"]), rest)
        polynomial = number(constants["coefficients"][-1])
        for coefficient in reversed(constants["coefficients"][:-1]):
            polynomial = _fma(builder, polynomial, rest, number(coefficient))
        integers = ir.VectorType(ir.IntType(constants["integer"]), LANES)
        shift = ir.Constant(integers, [ir.Constant(integers.element, constants["mantissa"])] * LANES)
        exponent = builder.shl(builder.bitcast(shifted, integers), shift)
        # 2^k is added to the exponent bits. Below the smallest argument this gives anything, which is not used.
        scaled = builder.bitcast(builder.add(builder.bitcast(polynomial, integers), exponent), vector)
        normal = builder.fcmp_ordered(">", x, number(constants["smallest"]))
        return builder.select(normal, scaled, number(0.0))

    return value(value), generate


# log(z) = e · ln 2 + 2·atanh(t), t = (f − 1) / (f + 1), with z = 2^e · f and f in [√½, √2).
_LOGARITHM = {
    ir.FloatType(): {"terms": 6, "root_bits": 0x3F3504F3},
    ir.DoubleType(): {"terms": 12, "root_bits": 0x3FE6A09E667F3BCD},
}


@intrinsic
def logarithm(typing_context, value):
    """log, lane by lane, of positive normal numbers."""

    def generate(context, builder, signature, arguments):
        (z,) = arguments
        vector, sizes = z.type, _EXPONENTIAL[z.type.element]
        constants = _LOGARITHM[z.type.element]
        integers = ir.VectorType(ir.IntType(sizes["integer"]), LANES)

        def number(constant):
            return _splat(constant, vector)

        def integer(constant):
            return ir.Constant(integers, [ir.Constant(integers.element, constant)] * LANES)

        bits = builder.bitcast(z, integers)
        above_root = builder.sub(bits, integer(constants["root_bits"]))
        exponent = builder.ashr(above_root, integer(sizes["mantissa"]))
        fraction = builder.bitcast(builder.sub(bits, builder.shl(exponent, integer(sizes["mantissa"]))), vector)
        exponent = builder.sitofp(exponent, vector)
        t = builder.fdiv(builder.fsub(fraction, number(1.0)), builder.fadd(fraction, number(1.0)))
        square = builder.fmul(t, t)
        series = number(2.0 / (2 * constants["terms"] + 1))
        for term in reversed(range(constants["terms"])):
            series = _fma(builder, series, square, number(2.0 / (2 * term + 1)))
        low = _fma(builder, exponent, number(sizes["low"]), builder.fmul(series, t))
        return _fma(builder, exponent, number(sizes["high"]), low)

    return value(value), generate
