//! The tests of this crate, as one program: each program is linked by itself.

mod answers;
mod apply;
mod bounds;
mod cluster;
mod columnar;
mod common;
mod covariates;
mod evaluate;
mod faults;
mod hostile;
mod hostile_evaluate;
mod hostile_methods;
mod info;
mod input;
mod labels;
mod links;
mod networks;
mod pages;
mod passes;
mod report_in_browser;
mod shown;
mod stream;
mod stream_words;
mod words;
