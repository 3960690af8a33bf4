package miniredis

import "slices"

// T is the part of testing.TB that checks need.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// CheckGet fails the test unless a key holds a string.
func (m *Miniredis) CheckGet(t T, key, expected string) {
	t.Helper()
	found, err := m.Get(key)
	switch {
	case err != nil:
		t.Errorf("GET error, key %#v: %v", key, err)
	case found != expected:
		t.Errorf("GET error, key %#v: Expected %#v, got %#v", key, expected, found)
	}
}

// CheckList fails the test unless a list has these elements.
func (m *Miniredis) CheckList(t T, key string, expected ...string) {
	t.Helper()
	found, err := m.List(key)
	check(t, "List", key, expected, found, err)
}

// CheckSet fails the test unless a set has these elements.
func (m *Miniredis) CheckSet(t T, key string, expected ...string) {
	t.Helper()
	found, err := m.Members(key)
	check(t, "Set", key, slices.Sorted(slices.Values(expected)), found, err)
}

func check(t T, what, key string, expected, found []string, err error) {
	t.Helper()
	switch {
	case err != nil:
		t.Errorf("%s error, key %#v: %v", what, key, err)
	case !slices.Equal(expected, found):
		t.Errorf("%s error, key %#v: Expected %#v, got %#v", what, key, expected, found)
	}
}
