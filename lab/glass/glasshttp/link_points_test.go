package glasshttp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A link holds every point of the loop: those of the append only file and of replication, too.
func TestALinkHoldsFilesAndReplication(t *testing.T) {
	var recordings []string
	for _, s := range append(fileSituations()[:1], replicaSituations()[3:6]...) {
		recordings = append(recordings, s.record(t))
	}
	text, err := json.Marshal(recordings)
	require.NoError(t, err)
	p := chromium.Start(t)
	start(t).open(p, "replay", "en")
	var same []bool
	p.Eval(`(async (all) => {
		const link = await import("/link.js")
		const events = lines => lines.trim().split("\n").slice(1).join("\n")
		const back = async lines => (await link.read("#" + await link.write(lines, 1))).lines
		return Promise.all(all.map(async lines => events(await back(lines)) === events(link.clean(lines)) &&
			events(lines).split("\n").length === events(link.clean(lines)).split("\n").length))
	})(`+string(text)+`)`, &same)
	require.Equal(t, []bool{true, true, true, true}, same)
	require.Empty(t, p.Problems())
}
