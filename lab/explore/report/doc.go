// Package report writes what lab/explore has found: for a terminal, for programs, and for a browser. Package paste
// writes it as tests.
//
//	*explore.Report ──> Text   a matrix, the findings, what was not tried, the verdict; 120 columns
//	                ├─> JSON   everything, with the part that is equal in each run apart
//	                └─> HTML   one file that needs nothing else, in both languages, with tests to paste
//
// Clients, keys, tokens, replies and outputs come from strangers. So each text goes through package clean.
// Pictures are images in the page, so nothing in them can run.
//
// All texts of a report are in two tables with the same keys, english and chinese. Sentences that the doctor, the
// verdict and lab/explore write are in English. chineseOf translates them, and a test compares it with their
// source. What has no translation stays in English, and the page says so to a screen reader.
package report
