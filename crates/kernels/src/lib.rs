//! Scalar kernels, Gram matrices, low-rank factors, HSIC and NOCCO
