package acl

import "strings"

// Describe returns the user as rules that make the same user (acl.c: ACLDescribeUser).
func (u *User) Describe() string {
	var b strings.Builder
	for _, flag := range u.Flags() {
		b.WriteString(flag + " ")
	}
	for _, hash := range u.Passwords {
		b.WriteString("#" + hash + " ")
	}
	for i := range u.Selectors {
		s := &u.Selectors[i]
		if i > 0 {
			b.WriteString(" (" + s.describe() + ")")
		} else {
			b.WriteString(s.describe())
		}
	}
	return b.String()
}

// Flags returns the words for the switches of the user.
func (u *User) Flags() []string {
	flags := []string{"off"}
	if u.On {
		flags[0] = "on"
	}
	if u.NoPass {
		flags = append(flags, "nopass")
	}
	if u.SkipSanitize {
		return append(flags, "skip-sanitize-payload")
	}
	return append(flags, "sanitize-payload")
}

func (s *Selector) describe() string {
	var parts []string
	add := func(part string) {
		if part != "" {
			parts = append(parts, part)
		}
	}
	add(s.KeyRules())
	if !s.AllChannels {
		add("resetchannels")
	}
	add(s.ChannelRules())
	add(s.CommandRules())
	return strings.Join(parts, " ")
}

// KeyRules returns the key patterns as rules.
func (s *Selector) KeyRules() string {
	if s.AllKeys {
		return "~*"
	}
	rules := make([]string, len(s.Keys))
	for i, k := range s.Keys {
		switch k.Use {
		case ReadKey:
			rules[i] = "%R~" + k.Pattern
		case WriteKey:
			rules[i] = "%W~" + k.Pattern
		default:
			rules[i] = "~" + k.Pattern
		}
	}
	return strings.Join(rules, " ")
}

// ChannelRules returns the channel patterns as rules.
func (s *Selector) ChannelRules() string {
	if s.AllChannels {
		return "&*"
	}
	rules := make([]string, len(s.Channels))
	for i, pattern := range s.Channels {
		rules[i] = "&" + pattern
	}
	return strings.Join(rules, " ")
}

// CommandRules returns the command rules in the order in which they were given.
func (s *Selector) CommandRules() string {
	first := "-@all"
	if s.all {
		first = "+@all"
	}
	return strings.Join(append([]string{first}, s.rules...), " ")
}
