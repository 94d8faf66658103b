//! Golden corpus, small data sets and conformance checks for tests of fewest
