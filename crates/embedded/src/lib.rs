//! Embedded feature selection: HSIC Lasso and NOCCO Lasso
