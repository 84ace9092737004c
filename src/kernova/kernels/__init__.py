"""Positive definite kernels, rules for their bandwidths, and blocked sums over kernel matrices."""

from kernova.kernels.functions import (
    Gaussian,
    Kernel,
    KernelLike,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Product,
    Scaled,
    Stationary,
    Sum,
    kernel_named,
)

__all__ = [
    "Gaussian",
    "Kernel",
    "KernelLike",
    "Laplacian",
    "Linear",
    "Matern",
    "Polynomial",
    "Product",
    "Scaled",
    "Stationary",
    "Sum",
    "kernel_named",
]
