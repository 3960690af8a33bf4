package main

// scene is a story about a lock on five masters: a line for each step, one after another.
//
//	LAB ...       what is done to the masters, as one would type it
//	a takes       the owner a asks for the lock, and gets it
//	b is refused  the owner b asks for it, and does not get it
//	a releases
//
// All clocks stand still, so leases end when the scene says so. The lease is 10 s.
type scene struct {
	name, about string
	steps       string
	broken      bool // two hold the lock at the same time
}

// leaseMS is what the steps of the scenes count with.
const leaseMS = 10000

func scenes() []scene {
	return []scene{
		{
			name:  "sound",
			about: "nothing goes wrong, and time is the same everywhere",
			steps: `
				a takes
				b is refused
				a releases
				b takes
				LAB ALL CLOCK ADVANCE 11000
				a takes
				a releases`,
		},
		{
			name:   "clock-jump",
			about:  "a reaches three of five; the clock of one of the three jumps",
			broken: true,
			steps: `
				LAB MASTER 4 PARTITION CLIENT a ON
				LAB MASTER 5 PARTITION CLIENT a ON
				a takes
				LAB MASTER 3 CLOCK ADVANCE 11000
				b takes`,
		},
		{
			name:  "two-clocks-jump",
			about: "a reaches all; two clocks jump, and three masters are still a majority",
			steps: `
				a takes
				LAB MASTER 1 CLOCK ADVANCE 11000
				LAB MASTER 2 CLOCK ADVANCE 11000
				b is refused
				a releases
				b takes`,
		},
		{
			name:   "crash-forgets",
			about:  "a reaches three of five; one of the three crashes, is back at once and has forgotten",
			broken: true,
			steps: `
				LAB MASTER 4 PARTITION CLIENT a ON
				LAB MASTER 5 PARTITION CLIENT a ON
				a takes
				LAB MASTER 3 CRASH
				b takes`,
		},
		{
			name:  "crash-remembers",
			about: "the same, but what it had granted is on its disk",
			steps: `
				LAB MASTER 4 PARTITION CLIENT a ON
				LAB MASTER 5 PARTITION CLIENT a ON
				a takes
				LAB MASTER 3 CRASH LOSE NOTHING
				b is refused
				LAB ALL CLOCK ADVANCE 11000
				b takes`,
		},
		{
			name:   "back-too-early",
			about:  "it has forgotten, and stays down, but for less than the lease",
			broken: true,
			steps: `
				LAB MASTER 4 PARTITION CLIENT a ON
				LAB MASTER 5 PARTITION CLIENT a ON
				a takes
				LAB MASTER 3 CRASH DOWN 8000
				LAB ALL CLOCK ADVANCE 8000
				b takes`,
		},
		{
			name:  "delayed-restart",
			about: "it has forgotten, and stays down for longer than the lease",
			steps: `
				LAB MASTER 4 PARTITION CLIENT a ON
				LAB MASTER 5 PARTITION CLIENT a ON
				a takes
				LAB MASTER 3 CRASH DOWN 15000
				b is refused
				LAB ALL CLOCK ADVANCE 11000
				b takes
				LAB ALL CLOCK ADVANCE 4000
				b releases`,
		},
	}
}
