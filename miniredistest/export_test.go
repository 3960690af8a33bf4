package miniredistest

import "testing"

// JudgeHistory is AssertOneHolder for a history without a server.
func JudgeHistory(t testing.TB, history, glob string) { assertOneHolder(t, "", history, glob) }
