package server_test

import (
	"os"
	"testing"

	"github.com/miniredisd/miniredisd/internal/test/amount"
)

func TestMain(m *testing.M) {
	amount.SideBySide(8) // many tests wait most of their time
	os.Exit(m.Run())
}
