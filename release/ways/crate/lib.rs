//! A crate has to have a library. The test is in tests.
