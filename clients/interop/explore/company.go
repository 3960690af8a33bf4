package main

import (
	"slices"

	"github.com/miniredisd/miniredisd/lab/explore"
)

// company is what a server has beside it, and the failures that need it. The records of each company have a folder.
type company struct {
	name    string // the folder, and the word of -beside
	title   string // after the name of a client
	options explore.Options
}

// alone is the company of a lone server.
const alone = "alone"

// companies returns them all, with the lone server first. A failure belongs to one of them, so a client is explored
// with each failure once.
func companies() []company {
	return []company{
		{alone, "", explore.Options{}},
		{"replica", " with a replica", explore.Options{Replica: true, Only: []string{"failover"}}},
		{"disk", " with a disk", explore.Options{
			Disk: "everysec", Only: []string{"power-cut", "fsync-fails", "disk-full"}}},
	}
}

// companyNames returns the words of -beside.
func companyNames() (all []string) {
	for _, c := range companies() {
		all = append(all, c.name)
	}
	return all
}

// in returns the client in each of these companies; no name means all.
func (c client) in(names []string) (all []client) {
	for _, company := range companies() {
		if len(names) == 0 || slices.Contains(names, company.name) {
			c.company = company
			all = append(all, c)
		}
	}
	return all
}

// has reports whether a fault is played in this company.
func (c company) has(fault string) bool {
	if c.name != alone {
		return slices.Contains(c.options.Only, fault)
	}
	return !slices.ContainsFunc(companies(), func(o company) bool { return slices.Contains(o.options.Only, fault) })
}
