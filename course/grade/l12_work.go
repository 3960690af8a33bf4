package grade

import (
	"fmt"
	"slices"
)

// Does more than one thread work? The grader looks at each thread before and after a pass, in which all
// clients have sent. The server is asked with one I/O thread first: what the threads of a runtime do, such as
// those of a garbage collector, they do there as well.

// parts are how much of a pass the other threads did, besides the busiest one, from 0 to 1.
type parts struct {
	read float64 // of the bytes
	cpu  float64 // of the time of all threads
	told bool    // the server reads by read(2), so that the kernel counts the bytes of each thread
}

// The grader measures passes after some that warm up a runtime.
const passesToWarmUp, passesToMeasure = 3, 9

// threadsWork wants a server with four I/O threads to have threads that read and parse.
func threadsWork(s *story) {
	one, four := s.measure(1), s.measure(4)
	for more := 0; more < 2 && four.known && len(four.passes) == 0; more++ {
		four = s.measure(4) // it ended in its first pass
	}
	if !one.known || !four.known {
		note := say{
			"   This system does not show what a thread does. So the next test cannot be judged, and gets its points.",
			"   这个系统不显示各线程做了什么，下一项无法评判，直接给分。"}
		fmt.Fprintln(s.run.Out, note.in(s.run.Lang))
		return
	}
	if len(four.passes) == 0 {
		return // it ends in every first pass: that is no fault of idle threads, and the next test says why
	}
	if !works(one, four) {
		s.idles(say{
			"64 clients sent, IO_THREADS was 4, and one thread did all of the work. There are no others, or they slept. " +
				"Give each thread a share of the readable clients, and let it read and parse them. " +
				"Hint 1 shows how to see the CPU time of each thread.",
			"64 个客户端都发了请求，IO_THREADS 是 4，活却全由一个线程做：没有其他线程，或者它们都在睡觉。" +
				"请把可读的客户端分给每个线程，由它们读和解析。提示 1 说明怎样看每个线程的 CPU 时间。"})
	}
}

// idles ends the test, and the tests that need threads that work.
func (s *story) idles(why say) {
	s.run.threads = say{"Not judged: the I/O threads do no work. See test 2.", "不评判：I/O 线程没有干活，见测试 2。"}
	s.fail(why)
}

// works reports whether threads read or parse. A right server lends three quarters of its clients. A part of
// Go's work may move to another thread in the middle of a pass, so less than two fifths of the bytes say
// nothing. In Node main reads, and the others parse: then only their time tells, and it has to be clear.
func works(one, four *measured) bool {
	read := func(p parts) float64 { return p.read }
	cpu := func(p parts) float64 { return p.cpu }
	more := four.figure(cpu, 0.5) - one.figure(cpu, 0.5)
	if !four.passes[0].told {
		return more >= 0.2
	}
	return four.figure(read, 0.5) >= 0.4 || more >= 0.3 && four.figure(cpu, 0.25) > one.figure(cpu, 0.75)
}

// measured is what the passes of one process have shown.
type measured struct {
	known  bool // the system shows threads
	passes []parts
}

// figure returns a figure of the passes: with 0.5 the middle one, with 0.25 the one in the middle of the lower half.
func (m *measured) figure(of func(parts) float64, at float64) float64 {
	var all []float64
	for _, p := range m.passes {
		all = append(all, of(p))
	}
	slices.Sort(all)
	return all[int(at*float64(len(all)-1))]
}

// measure plays passes with that many I/O threads. A late reply does not matter here. If the process ends, what
// was measured before has to do.
func (s *story) measure(threads int) *measured {
	m := &measured{}
	v := s.serveWith(threads)
	f, err := s.perform(func(*story) { v.watchPasses(m) })
	s.check(err)
	if f != nil && (threads == 1 || !m.known) {
		panic(f)
	}
	return m
}

func (v *service) watchPasses(m *measured) {
	r, loads := v.rounds(), equalLoads()
	for _, c := range r.crowd {
		c.ping(say{"PING of one of 64 clients", "64 个客户端之一的 PING"})
	}
	v.seen()
	if _, m.known = efforts(v.processes()); !m.known {
		return
	}
	bytes := int64(len(loads) * len(loads[0].requests))
	for pass := range passesToWarmUp + passesToMeasure {
		before, _ := efforts(v.processes())
		late := r.pass(loads)
		after, _ := efforts(v.processes())
		if pass >= passesToWarmUp {
			m.passes = append(m.passes, compare(before, after, bytes))
		}
		if late {
			r = v.rounds()
		}
	}
}

// compare returns the parts of a pass in which that many bytes were sent.
func compare(before, after map[int]effort, bytes int64) parts {
	part := func(figure func(effort) int64) (others float64, sum int64) {
		most := int64(0)
		for tid, e := range after {
			did := figure(e) - figure(before[tid])
			sum, most = sum+did, max(most, did)
		}
		return 1 - float64(most)/float64(max(sum, 1)), sum
	}
	read, sum := part(func(e effort) int64 { return e.read })
	cpu, _ := part(func(e effort) int64 { return e.cpu })
	return parts{read: read, cpu: cpu, told: sum >= bytes*9/10}
}
