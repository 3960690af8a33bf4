package acl

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/miniredisd/miniredisd/internal/ascii"
)

// apply changes u by one rule (acl.c: ACLSetUser).
func (us *Users) apply(u *User, rule string) error {
	if rule == "" {
		return nil
	}
	switch ascii.ToLower(rule) {
	case "on":
		u.On = true
	case "off":
		u.On = false
	case "skip-sanitize-payload":
		u.SkipSanitize = true
	case "sanitize-payload":
		u.SkipSanitize = false
	case "nopass":
		u.NoPass, u.Passwords = true, nil
	case "resetpass":
		u.NoPass, u.Passwords = false, nil
	case "clearselectors":
		u.Selectors = u.Selectors[:1]
	case "reset":
		*u = us.fresh(u.Name)
	default:
		return us.applyMarked(u, rule)
	}
	return nil
}

// applyMarked is apply for the rules that begin with a sign.
func (us *Users) applyMarked(u *User, rule string) error {
	switch sign := rule[0]; {
	case sign == '>' || sign == '#':
		hash, err := hashOf(rule)
		if err != nil {
			return err
		}
		if !slices.Contains(u.Passwords, hash) {
			u.Passwords = append(u.Passwords, hash)
		}
		u.NoPass = false
	case sign == '<' || sign == '!':
		hash, err := hashOf(rule)
		if err != nil {
			return err
		}
		i := slices.Index(u.Passwords, hash)
		if i < 0 {
			return errNoPassword
		}
		u.Passwords = slices.Delete(u.Passwords, i, i+1)
	case sign == '(' && strings.HasSuffix(rule, ")"):
		s := us.freshSelector()
		for part := range strings.SplitSeq(rule[1:len(rule)-1], " ") {
			if err := us.applySelector(&s, part); err != nil {
				return err
			}
		}
		u.Selectors = append(u.Selectors, s)
	default:
		return us.applySelector(&u.Selectors[0], rule)
	}
	return nil
}

// hashOf returns the hash of a rule: that of its password, or the hash that the rule gives.
func hashOf(rule string) (string, error) {
	if rule[0] == '>' || rule[0] == '<' {
		return hash([]byte(rule[1:])), nil
	}
	text := rule[1:]
	if len(text) != 2*sha256.Size || strings.Trim(text, "0123456789abcdef") != "" {
		return "", errHash
	}
	return text, nil
}

func hash(password []byte) string {
	sum := sha256.Sum256(password)
	return hex.EncodeToString(sum[:])
}

// applySelector changes one selector by one rule (acl.c: ACLSetSelector).
func (us *Users) applySelector(s *Selector, rule string) error {
	if rule == "" {
		return nil
	}
	switch ascii.ToLower(rule) {
	case "allkeys", "~*":
		s.AllKeys, s.Keys = true, nil
	case "resetkeys":
		s.AllKeys, s.Keys = false, nil
	case "allchannels", "&*":
		s.AllChannels, s.Channels = true, nil
	case "resetchannels":
		s.AllChannels, s.Channels = false, nil
	case "allcommands", "+@all":
		s.setAll(true)
	case "nocommands", "-@all":
		s.setAll(false)
	default:
		switch rule[0] {
		case '~', '%':
			return s.addKeys(rule)
		case '&':
			return s.addChannels(rule[1:])
		case '+', '-':
			return us.applyCommand(s, rule[0] == '+', rule[1:])
		}
		return errSyntax
	}
	return nil
}

func (s *Selector) setAll(allow bool) {
	s.all, s.rules, s.firstArgs = allow, nil, nil
	s.allowed.fill(allow)
}

// addKeys adds a key pattern. The letters between % and ~ give its use. An existing pattern is
// allowed the new use as well.
func (s *Selector) addKeys(rule string) error {
	if s.AllKeys {
		return errAllKeys
	}
	letters, pattern, _ := strings.Cut(rule, "~")
	use := ReadKey | WriteKey
	if letters != "" {
		use = 0
		for _, letter := range ascii.ToLower(letters[1:]) {
			bit := map[rune]Use{'r': ReadKey, 'w': WriteKey}[letter]
			if bit == 0 || use&bit != 0 {
				return errSyntax
			}
			use |= bit
		}
	}
	if use == 0 || hasSpace(pattern) {
		return errSyntax
	}
	for i := range s.Keys {
		if s.Keys[i].Pattern == pattern {
			s.Keys[i].Use |= use
			return nil
		}
	}
	s.Keys = append(s.Keys, KeyPattern{pattern, use})
	return nil
}

func (s *Selector) addChannels(pattern string) error {
	switch {
	case s.AllChannels:
		return errAllChannels
	case hasSpace(pattern):
		return errSyntax
	case !slices.Contains(s.Channels, pattern):
		s.Channels = append(s.Channels, pattern)
	}
	return nil
}

// hasSpace reports whether s has a character that names and patterns must not have: as text it
// would not be one word.
func hasSpace(s string) bool { return strings.ContainsAny(s, " \t\n\v\f\r\x00") }

// applyCommand allows or forbids a command or a category.
func (us *Users) applyCommand(s *Selector, allow bool, name string) error {
	if strings.HasPrefix(name, "@") {
		category := Named(name[1:])
		if category == 0 {
			return errUnknown
		}
		for _, cmd := range us.Commands {
			if cmd.Categories&category != 0 {
				s.permit(cmd, allow)
			}
		}
		s.note(name, allow)
		return nil
	}
	cmd := us.Command(name)
	if allow && strings.Contains(name, "|") {
		if err := us.allowPart(s, cmd, name); err != nil {
			return err
		}
	} else {
		if cmd == nil {
			return errUnknown
		}
		s.permit(cmd, allow)
	}
	s.note(name, allow)
	return nil
}

// allowPart allows a subcommand, or a command with one first argument: SELECT|0. cmd is the command
// with the whole name, if there is one.
func (us *Users) allowPart(s *Selector, cmd *Command, name string) error {
	bar := strings.LastIndexByte(name, '|')
	whole, arg := us.Command(name[:bar]), name[bar+1:]
	switch {
	case whole == nil:
		return errUnknown
	case whole.Parent != nil:
		return errFirstArg
	case arg == "":
		return errSyntax
	case whole.Subs == nil:
		s.allowFirst(whole.ID, arg)
		if us.Warn != nil {
			us.Warn("Deprecation warning: Allowing a first arg of an otherwise blocked command is a misuse of ACL " +
				"and may get disabled in the future (offender: +" + name + ")")
		}
	case cmd == nil:
		return errUnknown
	default:
		s.permit(cmd, true)
	}
	return nil
}

func (s *Selector) allowFirst(id int, arg string) {
	if slices.ContainsFunc(s.firstArgs[id], func(a string) bool { return ascii.EqualFold(a, arg) }) {
		return
	}
	if s.firstArgs == nil {
		s.firstArgs = map[int][]string{}
	}
	s.firstArgs[id] = append(s.firstArgs[id], arg)
}

// permit allows or forbids a command and its subcommands.
func (s *Selector) permit(cmd *Command, allow bool) {
	s.allowed.put(cmd.ID, allow)
	delete(s.firstArgs, cmd.ID)
	for _, sub := range cmd.Subs {
		s.allowed.put(sub.ID, allow)
	}
}

// note keeps a rule for display. It removes earlier rules that have no meaning any more: those
// about the same command or about a part of it.
func (s *Selector) note(name string, allow bool) {
	name = ascii.ToLower(name)
	s.rules = slices.DeleteFunc(s.rules, func(rule string) bool {
		of, found := strings.CutPrefix(rule[1:], name)
		return found && (of == "" || of[0] == '|')
	})
	sign := "-"
	if allow {
		sign = "+"
	}
	s.rules = append(s.rules, sign+name)
}

// joinSelectors joins the words of each selector to one rule. It returns the first word of a
// selector that is not closed.
func joinSelectors(words []string) (rules []string, unclosed string) {
	open := -1
	for i, word := range words {
		switch {
		case open < 0 && strings.HasPrefix(word, "(") && !strings.HasSuffix(word, ")"):
			open = i
		case open < 0:
			rules = append(rules, word)
		case strings.HasSuffix(word, ")"):
			rules = append(rules, strings.Join(words[open:i+1], " "))
			open = -1
		}
	}
	if open >= 0 {
		return nil, words[open]
	}
	return rules, ""
}
