"""Kernels, their widths, and sums over them in blocks: what every station computes with."""
