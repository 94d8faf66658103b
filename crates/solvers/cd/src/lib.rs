//! Coordinate descent on argmin
