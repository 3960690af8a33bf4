package acl

import (
	"fmt"
	"strings"
)

// Load replaces all users by those of an aclfile. If the text has an error, it replaces none, and
// the error lists every fault. If the text does not name the default user, that user is as before
// any rule (acl.c: ACLLoadFromFile).
func (us *Users) Load(path, text string) error {
	next := &Users{Commands: us.Commands, PubSubDefault: us.PubSubDefault, Warn: us.Warn, byName: map[string]*User{}}
	var faults strings.Builder
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if line = strings.Trim(line, " \t\r\n"); line != "" {
			next.loadLine(&faults, path, n, strings.Split(line, " "))
		}
	}
	if faults.Len() > 0 {
		return Error(faults.String() + "WARNING: ACL errors detected, no change to the previously active ACL " +
			"rules was performed")
	}
	replacement := next.byName["default"]
	if replacement == nil {
		replacement = us.freshDefault()
	}
	*us.Default = *replacement
	next.byName["default"] = us.Default
	us.byName, us.bytes = next.byName, 0
	for _, u := range us.byName {
		u.bytes = u.mem()
		us.bytes += u.bytes
	}
	return nil
}

func (us *Users) loadLine(faults *strings.Builder, path string, n int, words []string) {
	if words[0] != "user" || len(words) < 2 {
		fmt.Fprintf(faults, "%s:%d should start with user keyword followed by the username. ", path, n)
		return
	}
	name := words[1]
	if hasSpace(name) {
		fmt.Fprintf(faults, "'%s:%d: username '%s' contains invalid characters. ", path, n, name)
		return
	}
	if us.byName[name] != nil {
		fmt.Fprintf(faults, "WARNING: Duplicate user '%s' found on line %d. ", name, n)
		return
	}
	u := us.fresh(name)
	us.byName[name] = &u
	rules, unclosed := joinSelectors(words[2:])
	if unclosed != "" {
		fmt.Fprintf(faults, "%s:%d: Unmatched parenthesis in selector definition.", path, n)
	}
	told := false
	for _, rule := range rules {
		rule = strings.Trim(rule, "\t\r\n")
		switch err := us.apply(&u, rule); {
		case err == errUnknown: // which is no secret, unlike a password
			fmt.Fprintf(faults, "%s:%d: Error in applying operation '%s': %s. ", path, n, rule, err)
		case err != nil && !told:
			fmt.Fprintf(faults, "%s:%d: %s. ", path, n, err)
			told = true
		}
	}
	u.settle()
}

// Text returns a text from which Load makes the same users.
func (us *Users) Text() string { return strings.Join(us.Lines(), "\n") + "\n" }

// User lines of the configuration file are read in two steps, as in Redis. A rule that is always
// wrong is refused at its line. A rule that depends on the commands is checked when the whole file
// is read.

// Line is a user line of the configuration file.
type Line struct {
	Name  string
	Words []string
}

// CheckLine returns the first rule of a line that is wrong whatever commands exist, and the reason
// (acl.c: ACLAppendUserForLoading). earlier are the lines before it.
func (us *Users) CheckLine(line Line, earlier []Line) (at string, err error) {
	for _, other := range earlier {
		if other.Name == line.Name {
			return line.Name, errDuplicate
		}
	}
	rules, unclosed := joinSelectors(line.Words)
	if unclosed != "" {
		return unclosed, Error("Unmatched parenthesis in selector definition")
	}
	u := us.fresh(line.Name)
	for _, rule := range rules {
		if err := us.apply(&u, rule); err != nil && err != errUnknown {
			return rule, err
		}
	}
	return "", nil
}

// Define makes the user of a line that CheckLine has accepted. The default user starts without
// rules. The error is for the operator.
func (us *Users) Define(line Line) (*User, error) {
	if hasSpace(line.Name) {
		return nil, Error("Spaces not allowed in ACL usernames")
	}
	fresh := us.fresh(line.Name)
	rules, _ := joinSelectors(line.Words)
	for _, rule := range rules {
		if err := us.apply(&fresh, rule); err != nil {
			return nil, Error(fmt.Sprintf("Error loading ACL rule '%s' for the user named '%s': %s", rule, line.Name, err))
		}
	}
	fresh.settle()
	us.Commit(&fresh)
	return us.byName[line.Name], nil
}
