package glasshttp

import (
	"testing"
	"time"

	"github.com/miniredisd/miniredisd/internal/test/redistest"
)

// BenchmarkPage shows how soon the page is there, and how many frames a second it draws while about
// 10,000 events a second happen: go test ./lab/glass/glasshttp -run none -bench Page -benchtime 1x
func BenchmarkPage(b *testing.B) {
	s := start(b)
	p := chromium.Start(b)
	s.open(p, "loop", "en")
	var paint float64
	p.Eval(`new Promise(done => new PerformanceObserver(
		list => done(list.getEntriesByName("first-contentful-paint")[0].startTime))
		.observe({type: "paint", buffered: true}))`, &paint)
	defer s.tenThousandEvents(b)()
	var r struct{ Frames, Events, Heap float64 }
	for b.Loop() {
		p.Eval(`import("/store.js").then(async store => {
			let events = 0, last = null
			store.on(() => {
				if (store.sum && store.sum !== last) events += store.sum.events
				last = store.sum
			})
			const begin = performance.now()
			let frames = 0
			while (performance.now() - begin < 5000) {
				await new Promise(requestAnimationFrame)
				frames++
			}
			const seconds = (performance.now() - begin) / 1000
			return {frames: frames / seconds, events: events / seconds, heap: performance.memory.usedJSHeapSize / 1e6}
		})`, &r)
	}
	b.ReportMetric(paint, "first-paint-ms")
	b.ReportMetric(r.Frames, "frames/s")
	b.ReportMetric(r.Events, "events/s")
	b.ReportMetric(r.Heap, "heap-MB")
}

// tenThousandEvents sends 2,000 requests a second, of which a summary counts five events each,
// until the caller calls end.
func (s *site) tenThousandEvents(b *testing.B) (end func()) {
	c := redistest.Dial(b, s.masters.Addrs()[0])
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		const rate = 2000
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		begin := time.Now()
		for sent := time.Duration(0); ; {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			for ; sent < time.Since(begin)*rate/time.Second; sent++ {
				c.Do("INCR", "visits")
			}
		}
	}()
	return func() {
		close(stop)
		<-ended
	}
}
