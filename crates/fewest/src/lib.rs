//! Feature selection: the fewest features that carry the answer
