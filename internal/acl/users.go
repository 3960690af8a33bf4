package acl

import (
	"cmp"
	"crypto/subtle"
	"maps"
	"slices"

	"github.com/miniredisd/miniredisd/internal/ascii"
	"github.com/miniredisd/miniredisd/store"
)

// Users is all users.
type Users struct {
	Commands []*Command
	Default  *User // the user of new clients; it cannot be deleted and never moves

	// PubSubDefault is acl-pubsub-default. If set, a new user and a new selector may use all
	// channels.
	PubSubDefault bool

	// Warn, if set, gets warnings about rules that work but are deprecated.
	Warn func(text string)

	byName map[string]*User
	bytes  int // of the users in byName, each as of its latest change
}

// New returns a Users with the default user only. That user needs no password and may do anything.
func New(commands []*Command) *Users {
	if len(commands) > MaxCommands {
		panic("acl: too many commands")
	}
	us := &Users{Commands: commands}
	us.Default = us.freshDefault()
	us.byName = map[string]*User{us.Default.Name: us.Default}
	return us
}

func (us *Users) freshDefault() *User {
	u := us.fresh("default")
	u.On, u.NoPass = true, true
	root := &u.Selectors[0]
	root.AllKeys, root.AllChannels = true, true
	root.setAll(true)
	u.settle()
	return &u
}

// fresh is a user without rules: it is off and may do nothing.
func (us *Users) fresh(name string) User {
	return User{Name: name, Selectors: []Selector{us.freshSelector()}}
}

func (us *Users) freshSelector() Selector { return Selector{AllChannels: us.PubSubDefault} }

// settle computes what every check needs.
func (u *User) settle() {
	u.Free = slices.ContainsFunc(u.Selectors, func(s Selector) bool {
		return s.AllKeys && s.AllChannels && s.allowed.full()
	})
}

func (u *User) clone() *User {
	c := *u
	c.Passwords = slices.Clone(u.Passwords)
	c.Selectors = slices.Clone(u.Selectors)
	for i := range c.Selectors {
		s := &c.Selectors[i]
		s.Keys, s.Channels, s.rules = slices.Clone(s.Keys), slices.Clone(s.Channels), slices.Clone(s.rules)
		s.firstArgs = maps.Clone(s.firstArgs)
		for id, args := range s.firstArgs {
			s.firstArgs[id] = slices.Clone(args)
		}
	}
	return &c
}

// Command finds a command by its name in any case, nil if no command has it.
func (us *Users) Command(name string) *Command {
	name = ascii.ToLower(name)
	for _, cmd := range us.Commands {
		if cmd.Name == name {
			return cmd
		}
	}
	return nil
}

// Get finds a user by name, nil if no user has it.
func (us *Users) Get(name []byte) *User { return us.byName[string(name)] }

// All returns the users, sorted by name.
func (us *Users) All() []*User {
	return slices.SortedFunc(maps.Values(us.byName), func(a, b *User) int { return cmp.Compare(a.Name, b.Name) })
}

// Lines returns the users as lines of a configuration file.
func (us *Users) Lines() []string {
	var lines []string
	for _, u := range us.All() {
		lines = append(lines, "user "+u.Name+" "+u.Describe())
	}
	return lines
}

// Stage returns the user called name as it would be after some rules. It applies all rules, or none
// if one is wrong (acl.c: ACLStringSetUser).
func (us *Users) Stage(name string, words []string) (*User, error) {
	if hasSpace(name) {
		return nil, Error("Usernames can't contain spaces or null characters")
	}
	rules, unclosed := joinSelectors(words)
	if unclosed != "" {
		return nil, Error(store.Errorf("Unmatched parenthesis in acl selector starting at '%s'.", unclosed))
	}
	staged := us.fresh(name)
	if u := us.byName[name]; u != nil {
		staged = *u.clone()
	}
	for _, rule := range rules {
		if err := us.apply(&staged, rule); err != nil {
			return nil, Error(store.Errorf("Error in ACL SETUSER modifier '%s': %s", rule, err))
		}
	}
	staged.settle()
	return &staged, nil
}

// Commit replaces the content of a user by a staged one. The User itself stays, because clients
// point at it.
func (us *Users) Commit(staged *User) {
	staged.bytes = staged.mem()
	us.bytes += staged.bytes
	if u := us.byName[staged.Name]; u != nil {
		us.bytes -= u.bytes
		*u = *staged
		return
	}
	us.byName[staged.Name] = staged
}

// Mem estimates the memory of the users in bytes.
func (us *Users) Mem() int { return us.bytes }

// userMem is the memory of a user or of a selector without its rules, in bytes.
const userMem = 256

func (u *User) mem() int {
	n := userMem + len(u.Name)
	texts := func(list []string) {
		for _, text := range list {
			n += 16 + len(text)
		}
	}
	texts(u.Passwords)
	for i := range u.Selectors {
		s := &u.Selectors[i]
		n += userMem
		texts(s.Channels)
		texts(s.rules)
		for _, key := range s.Keys {
			n += 24 + len(key.Pattern)
		}
		for _, args := range s.firstArgs {
			n += 48
			texts(args)
		}
	}
	return n
}

// Delete removes and returns a user, nil if no user has that name.
func (us *Users) Delete(name []byte) *User {
	u := us.byName[string(name)]
	if u == us.Default {
		return nil
	}
	if u != nil {
		us.bytes -= u.bytes
		delete(us.byName, string(name))
	}
	return u
}

// SetDefaultPassword implements requirepass: the default user has this password alone, or no
// password.
func (us *Users) SetDefaultPassword(password string) {
	u := us.Default
	u.NoPass, u.Passwords = password == "", nil
	if password != "" {
		u.Passwords = []string{hash([]byte(password))}
	}
}

// Authenticate returns the user called name if the password is right, else nil. Comparing hashes
// takes the same time for every password of every length.
func (us *Users) Authenticate(name, password []byte) *User {
	u := us.byName[string(name)]
	if u == nil || !u.On {
		return nil
	}
	if u.NoPass {
		return u
	}
	sent := hash(password)
	for _, known := range u.Passwords {
		if subtle.ConstantTimeCompare([]byte(sent), []byte(known)) == 1 {
			return u
		}
	}
	return nil
}

// Open reports whether clients need not authenticate, because they are the default user.
func (us *Users) Open() bool { return us.Default.NoPass && us.Default.On }
