package install

import (
	"fmt"
	"slices"
	"strings"
)

func (v view) permissions(parts []string) string {
	named := make([]string, len(parts))
	for i, part := range parts {
		if v.Task != nil {
			part = strings.ReplaceAll(part, "{task}", string(v.Task.Name))
		}
		named[i] = part
	}
	return block(scopesOf(v.Work != nil, named...))
}

func (v view) taskWord(name string) (string, bool) {
	switch name {
	case "task":
		return string(v.Task.Name), true
	case "title":
		return v.Task.Title, true
	case "what":
		return v.Task.What, true
	case "permissionsOfTask":
		analyze, apply := taskParts(string(v.Task.Name))
		return block(scopesOf(v.Work != nil, slices.Concat(analyze, apply)...)), true
	}
	return "", false
}

// secretsWord names the engine's secrets in the four ways that the workflows need.
func (v view) secretsWord(name string) (string, bool) {
	form := map[string]struct{ each, between string }{
		"secretsDeclared": {`      %[1]s: {description: "Empty here: the value of the environment issue-assistant is the one used", required: false}`, "\n"},
		"secretsEnv":      {"          %[1]s: ${{ secrets.%[1]s }}", "\n"},
		"secretsPassed":   {`%[1]s: "${{ secrets.%[1]s }}"`, ", "},
		"anySecret":       {"secrets.%[1]s != ''", " || "},
	}[name]
	if form.each == "" {
		return "", false
	}
	var all []string
	for _, secret := range Secrets(v.Engine) {
		all = append(all, fmt.Sprintf(form.each, secret))
	}
	return strings.Join(all, form.between), true
}

func (v view) workWord(name string) (string, bool) {
	switch name {
	case "workPath":
		return v.Work.Path, true
	case "workPermissions":
		if len(v.Work.Scopes) == 0 {
			return "    permissions: {}", true
		}
		return "    permissions:\n" + v.Work.Permissions(), true
	case "workSecrets":
		if len(v.Work.Secrets) == 0 {
			return "", true
		}
		lines := []string{"    secrets:"}
		for _, secret := range v.Work.Secrets {
			lines = append(lines, fmt.Sprintf("      %[1]s: ${{ secrets.%[1]s }}", secret))
		}
		return strings.Join(lines, "\n"), true
	}
	return "", false
}

// callingJobs are the router's jobs, one per task.
func (v view) callingJobs() (string, error) {
	var jobs []string
	for i := range tasks {
		one := v
		one.Task = &tasks[i]
		data, err := one.fill("workflows/call.part.tmpl")
		if err != nil {
			return "", err
		}
		jobs = append(jobs, strings.TrimRight(string(data), "\n"))
	}
	return strings.Join(jobs, "\n\n"), nil
}

func pinText(p Pin, what string) (string, error) {
	if !commitHash().MatchString(p.SHA) || !actionName().MatchString(p.Action) || !versionWord().MatchString(p.Version) {
		return "", fmt.Errorf("no commit is known for %s", what)
	}
	return p.String(), nil
}

// guard is the switch of the first job of every workflow. Releases run unless the repository variable is off; a build
// from source has no release to vouch for it and runs only when the variable is on.
func guard(p Pin) string {
	if p.released() {
		return "vars.ISSUE_ASSISTANT != 'off'"
	}
	return "vars.ISSUE_ASSISTANT == 'on'"
}
