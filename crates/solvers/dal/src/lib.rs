//! Dual augmented Lagrangian on argmin
