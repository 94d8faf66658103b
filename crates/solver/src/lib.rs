//! What all fewest solver crates share: datafits, penalties, certificates, argmin glue
