package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

func TestAConnectionOfAnotherProcessIsAStranger(t *testing.T) {
	s := redistest.Start(t, "--save", "")
	require.Equal(t, "+OK", redistest.Dial(t, s.Addr).Do("CLIENT", "SETNAME", "stranger").String())
	found, err := strangers(s.Addr, nil)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Contains(t, found[0], "name=stranger")
	found, err = strangers(s.Addr, []int{os.Getpid()})
	require.NoError(t, err)
	require.Empty(t, found)
}
