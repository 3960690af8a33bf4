package verdict

import (
	"github.com/miniredisd/miniredisd/lab"
	"github.com/miniredisd/miniredisd/lab/doctor"
)

// Diagnose returns the mistakes of lock clients that the doctor finds in the histories of the masters of
// one process. A history has the commands on watched keys only. It has no messages, no closed
// connections, and no real time between two attempts. So the doctor of a running server finds more.
func Diagnose(histories []lab.History) (all []doctor.Finding, err error) {
	r, err := merge(histories)
	if err != nil {
		return nil, err
	}
	r.examine()
	last := make([]int64, len(r.nodes))
	for _, e := range r.entries {
		last[e.master] = e.Time
	}
	for i, d := range r.doctors {
		for _, f := range d.Findings(last[i]) {
			for j := range f.Steps {
				if r.masters > 1 && f.Steps[j].Master == 0 {
					f.Steps[j].Master = r.nodes[i].master + 1
				}
				if r.replicated() && f.Steps[j].Node == "" {
					f.Steps[j].Node = r.nodes[i].name
				}
			}
			all = append(all, f)
		}
	}
	return all, nil
}
