package miniredistest

import (
	"bytes"
	"slices"

	"github.com/miniredisd/miniredisd/lab/explore"
	"github.com/miniredisd/miniredisd/server/glass"
)

// record plays the findings that a message tells once more, and returns what the loop of a server did in each. The
// trials before had no recording, because that takes time. The report has none: it is the same in each run.
func (d *driver) record(all []*explore.Finding) (loops [][]byte) {
	d.o.args = append(slices.Clone(d.o.args), "--watch", "127.0.0.1:0")
	for _, f := range all[:min(len(all), mostTold)] {
		var loop []byte
		if len(f.Strikes) > 0 {
			loop = d.recordingOf(f)
		}
		loops = append(loops, loop)
	}
	return loops
}

// recordingOf returns the recording of the master that a failure strikes, or nil.
func (d *driver) recordingOf(f *explore.Finding) []byte {
	d.mu.Lock()
	trial := d.e.Again(f)
	d.now = trial.ID
	d.mu.Unlock()
	p, recorded := d.playOf(trial), make(chan []byte, 1)
	arm := p.arm
	p.arm = func(m Masters) {
		arm(m)
		glass.ViewOf(m[0].in.nodes[trial.Master-1].s).RecordStart(0)
	}
	p.last = func(m Masters) {
		w := glass.ViewOf(m[0].in.nodes[trial.Master-1].s)
		w.RecordStop()
		var b bytes.Buffer
		if r := w.Recording(); r != nil && r.Write(&b) == nil {
			recorded <- b.Bytes()
		}
	}
	d.play(p)
	select {
	case loop := <-recorded:
		return loop
	default:
		return nil // the trial stands still
	}
}
