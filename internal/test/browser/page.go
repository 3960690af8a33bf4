package browser

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Go opens a URL and waits until the document and its scripts are loaded. A URL that differs behind
// # only keeps the document.
func (p *Page) Go(url string) {
	p.t.Helper()
	p.mu.Lock()
	loaded := p.loaded
	p.mu.Unlock()
	var result struct{ ErrorText, LoaderID string }
	p.call("Page.navigate", object{"url": url}, &result)
	switch {
	case result.ErrorText != "":
		p.t.Fatalf("browser: %s: %s", url, result.ErrorText)
	case result.LoaderID == "":
		return
	}
	select {
	case <-loaded:
	case <-p.chromium.done:
		p.t.Fatalf("browser: %s: the browser has ended: %v", url, p.chromium.err)
	case <-time.After(Limit):
		p.t.Fatalf("browser: %s is not loaded within %v", url, Limit)
	}
}

// Eval evaluates an expression in the page and stores its value, as JSON, in the variable that into
// points to. It waits for a promise. A nil into ignores the value.
func (p *Page) Eval(expression string, into any) {
	p.t.Helper()
	if err := p.eval(expression, into); err != nil {
		p.t.Fatalf("browser: %s: %v", expression, err)
	}
}

func (p *Page) eval(expression string, into any) error {
	var reply struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *exception
	}
	params := object{"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true}
	switch err := p.chromium.call(p.session, "Runtime.evaluate", params, &reply); {
	case err != nil:
		return err
	case reply.ExceptionDetails != nil:
		return fmt.Errorf("%s", reply.ExceptionDetails)
	case into == nil:
		return nil
	case reply.Result.Value == nil:
		return fmt.Errorf("the value is undefined")
	}
	return json.Unmarshal(reply.Result.Value, into)
}

// Text evaluates an expression and returns its value as a string.
func (p *Page) Text(expression string) (text string) {
	p.t.Helper()
	p.Eval("String("+expression+")", &text)
	return text
}

// Wait waits until an expression is true. The page evaluates it now, and again after each change of
// the document.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	err := p.eval(`new Promise((done, failed) => {
		const check = () => {
			try {
				if (!(`+expression+`)) return
				done(true)
			} catch (e) {
				failed(e)
			}
			watch.disconnect()
		}
		const watch = new MutationObserver(check)
		watch.observe(document, {attributes: true, childList: true, characterData: true, subtree: true})
		check()
	})`, nil)
	if err != nil {
		p.t.Fatalf("browser: waiting for %s: %v\nthe body has %s\nproblems: %s", expression, err,
			p.Text("JSON.stringify(document.body.dataset)"), strings.Join(p.Problems(), "\n"))
	}
}

// Click moves the mouse to the middle of the first element of a CSS selector and clicks. A page that changes meanwhile
// may have moved the element away: then Click tries again. One that has drawn it anew at its place was hit.
func (p *Page) Click(selector string) {
	p.t.Helper()
	for range 5 {
		p.clickOnce(selector)
		var missed bool
		if p.Eval(`window.missed === true`, &missed); !missed {
			return
		}
	}
}

func (p *Page) clickOnce(selector string) {
	p.t.Helper()
	var at *struct{ X, Y float64 }
	p.Eval(`(selector => {
		const e = document.querySelector(selector)
		if (!e) return null
		window.missed = !e.disabled
		const hit = c => { if (c.target.closest(selector)) window.missed = false }
		document.addEventListener("click", hit, {capture: true, once: true})
		e.scrollIntoView({block: "nearest", inline: "nearest", behavior: "instant"})
		const r = e.getBoundingClientRect()
		return {x: r.x + r.width / 2, y: r.y + r.height / 2}
	})(`+quote(selector)+`)`, &at)
	if at == nil {
		p.t.Fatalf("browser: there is no %s to click", selector)
	}
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		params := object{"type": kind, "x": at.X, "y": at.Y}
		if kind != "mouseMoved" {
			params["button"], params["clickCount"] = "left", 1
		}
		p.call("Input.dispatchMouseEvent", params, nil)
	}
}

// Press presses a key and releases it: one character, or a name such as "ArrowLeft", "Tab",
// "Enter".
func (p *Page) Press(key string) {
	p.t.Helper()
	code, text := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37,
		"ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Backspace": 8}[key], ""
	switch {
	case key == "Enter":
		text = "\r"
	case len([]rune(key)) == 1:
		text = key
		if code == 0 {
			code = int(strings.ToUpper(key)[0])
		}
	}
	params := object{"type": "keyDown", "key": key, "windowsVirtualKeyCode": code}
	if text != "" {
		params["text"] = text
	}
	p.call("Input.dispatchKeyEvent", params, nil)
	p.Do("Input.dispatchKeyEvent", "type", "keyUp", "key", key, "windowsVirtualKeyCode", code)
}

// Type inserts text where the cursor is.
func (p *Page) Type(text string) {
	p.t.Helper()
	p.Do("Input.insertText", "text", text)
}

// Size sets the size of the window in points.
func (p *Page) Size(width, height int) {
	p.t.Helper()
	p.Do("Emulation.setDeviceMetricsOverride", "width", width, "height", height, "deviceScaleFactor", 1, "mobile", false)
}

// Prefer sets what the user prefers: "light" or "dark", and whether motion is wanted.
func (p *Page) Prefer(scheme string, motion bool) {
	p.t.Helper()
	reduced := "reduce"
	if motion {
		reduced = "no-preference"
	}
	p.Do("Emulation.setEmulatedMedia", "features", []object{
		{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": reduced}})
}

// Freeze stops the scripts of the tab, as a browser does with a tab that nobody looks at for long.
func (p *Page) Freeze() {
	p.t.Helper()
	p.Do("Page.setWebLifecycleState", "state", "frozen")
}

// Thaw lets the scripts of a frozen tab go on.
func (p *Page) Thaw() {
	p.t.Helper()
	p.Do("Page.setWebLifecycleState", "state", "active")
}

// Screenshot returns the window as a PNG.
func (p *Page) Screenshot() []byte {
	p.t.Helper()
	var shot struct{ Data []byte }
	p.call("Page.captureScreenshot", object{"format": "png"}, &shot)
	return shot.Data
}

// quote returns text as a string of JavaScript.
func quote(text string) string {
	b, _ := json.Marshal(text) // never fails for a string
	return string(b)
}
