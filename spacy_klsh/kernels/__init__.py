"""Convolution kernels on structures."""
