// Package firsttest has the page on first tests, for miniredisd help first-test.
package firsttest

import (
	_ "embed"
	"strings"
)

//go:embed first-test.md
var page string

// Text returns the page as Markdown, from its title on.
func Text() string { return page[strings.Index(page, "# "):] }
