package miniredistest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/miniredisd/miniredisd/miniredistest"
)

func TestAServerPlaysTheDialectThatTheTestAsksFor(t *testing.T) {
	srv := miniredistest.Run(t, miniredistest.Dialect("valkey-9.1"))
	require.Contains(t, srv.Do("INFO", "server").Str, "valkey_version:9.1.2\r\n")
	message := failing(t, func(t testing.TB) { miniredistest.Run(t, miniredistest.Dialect("valkey-1.0")) })
	require.Contains(t, message, "valkey-9.2")
}

func TestTheEnvironmentSaysWhichServerIsPlayedUnlessTheTestDoes(t *testing.T) {
	t.Setenv("MINIREDISD_DIALECT", "redis-8.4,valkey-9.1")
	played := func(srv *miniredistest.Server) string { return srv.Do("CONFIG", "GET", "dialect").Elems[1].Str }
	require.Equal(t, "redis-8.4", played(miniredistest.Run(t)))
	require.Equal(t, "valkey-9.1", played(miniredistest.RunMasters(t, 2)[1]))
	require.Equal(t, "valkey-8.1", played(miniredistest.Run(t, miniredistest.Dialect("valkey-8.1"))))
	t.Setenv("MINIREDISD_DIALECT", "redis")
	message := failing(t, func(t testing.TB) { miniredistest.Run(t) })
	require.Contains(t, message, "MINIREDISD_DIALECT='redis': argument must be one of the following: redis-7.2")
}
