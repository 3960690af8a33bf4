package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/miniredisd/miniredisd/clients/interop/labserver"
	"github.com/miniredisd/miniredisd/lab/doctor"
	"github.com/miniredisd/miniredisd/lab/verdict"
)

// play is the state that all scenes share.
type play struct {
	options
	binary, work string
}

// client plays every scene with one client.
func (p *play) client(ctx context.Context, dir, kind string, r *report) error {
	o, err := startOwners(ctx, dir, kind)
	if err != nil {
		return err
	}
	defer o.stop()
	fmt.Fprintf(&r.text, "\n%s\n", o.client)
	for _, s := range scenes() {
		if !strings.Contains(s.name, p.scenes) {
			continue
		}
		began := time.Now()
		v, err := p.scene(ctx, s, o, &r.text)
		for chance := 2; chance <= chances && errors.As(err, new(notPlayed)) && ctx.Err() == nil; chance++ {
			fmt.Fprintf(&r.text, "  %-18s again, because: %v\n", s.name, err)
			v, err = p.scene(ctx, s, o, &r.text)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.failed++
			fmt.Fprintf(&r.text, "  %-18s FAIL: %v\n", s.name, err)
			continue
		}
		r.passed++
		fmt.Fprintf(&r.text, "  %-18s %-11s  %5d ms  %s\n", s.name, found(v), time.Since(began).Milliseconds(), s.about)
	}
	return nil
}

// chances is how often a scene is played that does not come to its end. The timeouts of the clients are real, and a
// machine that stands still for half a second makes one give up. A wrong verdict has no second chance.
const chances = 4

// notPlayed is the error of a client in the middle of a scene.
type notPlayed struct{ error }

func found(v *verdict.Verdict) string {
	switch {
	case v.OK():
		return "safe"
	case v.Violated():
		return "two holders"
	}
	return "undecided"
}

// scene has masters of its own, and returns the verdict when it is the one that it has to be.
func (p *play) scene(ctx context.Context, s scene, o *owners, out io.Writer) (v *verdict.Verdict, err error) {
	dir, err := os.MkdirTemp(p.work, s.name)
	if err != nil {
		return nil, err
	}
	m, err := labserver.Start(ctx, p.binary, dir, masterCount)
	if err != nil {
		return nil, err
	}
	defer m.Stop()
	if !p.verbose {
		out = io.Discard
	}
	st := &stage{Server: m, owners: o, out: out}
	const key = "lock:order:42"
	if err := st.do(ctx, "LAB ALL CLOCK FREEZE\nLAB ALL LOG WATCH *"+key); err != nil {
		return nil, err
	}
	if err = st.order(fmt.Sprintf("open %s %s %d", strings.Join(m.Addrs, ","), key, leaseMS), "ok"); err == nil {
		err = st.do(ctx, s.steps)
	}
	// the next scene opens anew, whatever came of this one
	if err = errors.Join(err, st.order("close", "ok")); err != nil {
		return nil, notPlayed{err}
	}
	history, err := m.Ask(ctx, "ALL", "LOG", "EXPORT")
	if err != nil {
		return nil, err
	}
	if v, err = p.judge(s, o.client, history, out); err != nil {
		return nil, err
	}
	return v, st.doctorAgrees(ctx, s)
}

// judge writes the history and its picture, and compares the verdict with what it has to be.
func (p *play) judge(s scene, client string, history []byte, out io.Writer) (*verdict.Verdict, error) {
	name := filepath.Join(p.folder, regexp.MustCompile(`[^\w.]+`).ReplaceAllString(client, "-")+"."+s.name)
	name = strings.ReplaceAll(name, "-.", ".")
	if err := os.WriteFile(name+".json", history, 0o644); err != nil {
		return nil, err
	}
	histories, err := verdict.Read(bytes.NewReader(history))
	if err != nil {
		return nil, err
	}
	v, err := verdict.Judge(histories)
	if err != nil {
		return nil, err
	}
	picture, err := os.Create(name + ".html")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(v.Picture(picture), picture.Close()); err != nil {
		return nil, err
	}
	v.Print(out)
	switch {
	case v.Grants == 0:
		return nil, fmt.Errorf("the masters have logged no lock (%s.json)", name)
	case v.OK() == s.broken, s.broken && len(v.TwoHolders) == 0:
		return nil, fmt.Errorf("the verdict is %q (%s.html)", found(v), name)
	}
	return v, nil
}

// stage is where a scene takes place.
type stage struct {
	*labserver.Server
	owners *owners
	out    io.Writer
}

// do performs steps until one goes otherwise than it says.
func (st *stage) do(ctx context.Context, steps string) error {
	for step := range strings.Lines(steps) {
		step = strings.TrimSpace(step)
		if step == "" {
			continue
		}
		began := time.Now()
		err := st.step(ctx, step)
		fmt.Fprintf(st.out, "    %-40s %5d ms\n", step, time.Since(began).Milliseconds())
		if err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
	}
	return nil
}

func (st *stage) step(ctx context.Context, step string) error {
	who, what, _ := strings.Cut(step, " ")
	switch what {
	case "takes":
		return st.order("take "+who, "held")
	case "is refused":
		return st.order("take "+who, "refused")
	case "releases":
		return st.order("release "+who, "released")
	}
	if who != "LAB" {
		return errors.New("is no step")
	}
	_, err := st.Ask(ctx, strings.Fields(what)...)
	return err
}

// doctorAgrees wants the masters to have noticed by themselves what the verdict says.
func (st *stage) doctorAgrees(ctx context.Context, s scene) error {
	findings, err := st.Ask(ctx, "ALL", "DOCTOR")
	if err == nil && bytes.Contains(findings, []byte(`"`+doctor.TwoHolders+`"`)) != s.broken {
		err = fmt.Errorf("LAB DOCTOR says otherwise than the verdict: %s", findings)
	}
	return err
}

// order wants the answer to begin with this word.
func (st *stage) order(order, want string) error {
	word, why, err := st.owners.obey(order)
	if err == nil && word != want {
		err = fmt.Errorf("%s %s", word, why)
	}
	return err
}
