package miniredistest

import "testing"

// JudgeHistory is AssertOneHolder of a history that no server has to make.
func JudgeHistory(t testing.TB, history, glob string) { assertOneHolder(t, "", history, glob) }
