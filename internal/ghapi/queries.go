package ghapi

// The GraphQL queries of the product. Values travel as variables only.
const (
	actorFields = `{ __typename login ... on User { databaseId } ... on Bot { databaseId } }`

	issueFields = `number databaseId id title body state stateReason(enableDuplicate: true) locked activeLockReason url
      authorAssociation author ` + actorFields + `
      labels(first: 50) { nodes { name } }
      assignees(first: 10) { nodes { login } }
      milestone { number title }
      comments { totalCount }
      createdAt updatedAt closedAt`

	queryViewer = `query Viewer { viewer { __typename login databaseId } }`

	queryIssues = `query Issues($owner: String!, $name: String!, $first: Int!, $after: String, $filter: IssueFilters, $order: IssueOrder!) {
  repository(owner: $owner, name: $name) {
    issues(first: $first, after: $after, filterBy: $filter, orderBy: $order) {
      pageInfo { hasNextPage endCursor }
      nodes {
      ` + issueFields + `
      }
    }
  }
}`

	discussionFields = `number title body closed isAnswered url createdAt updatedAt
        category { name }
        answer { body }
        author ` + actorFields

	queryDiscussions = `query Discussions($owner: String!, $name: String!, $first: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    discussions(first: $first, after: $after, orderBy: {field: UPDATED_AT, direction: DESC}) {
      pageInfo { hasNextPage endCursor }
      nodes {
        ` + discussionFields + `
      }
    }
  }
}`

	queryDiscussion = `query Discussion($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    discussion(number: $number) {
      ` + discussionFields + `
    }
  }
}`

	pullFields = `number title body state url baseRefName mergedAt updatedAt
        author ` + actorFields + `
        headRepository { nameWithOwner }
        mergeCommit { oid }
        closingIssuesReferences(first: 25) { nodes { number state repository { nameWithOwner } } }`

	queryPulls = `query PullRequests($owner: String!, $name: String!, $first: Int!, $after: String, $states: [PullRequestState!]) {
  repository(owner: $owner, name: $name) {
    pullRequests(first: $first, after: $after, states: $states, orderBy: {field: UPDATED_AT, direction: DESC}) {
      pageInfo { hasNextPage endCursor }
      nodes {
        ` + pullFields + `
      }
    }
  }
}`

	queryClosers = `query Closers($owner: String!, $name: String!, $number: Int!) {
  repository(owner: $owner, name: $name) {
    issue(number: $number) {
      closedByPullRequestsReferences(first: 25, includeClosedPrs: true) {
        nodes {
        ` + pullFields + `
        }
      }
    }
  }
}`

	queryThreads = `query Threads($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes { isResolved }
      }
    }
  }
}`
)
