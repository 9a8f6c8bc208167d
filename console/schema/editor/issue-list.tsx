import type { Issue } from '../check/check-text.ts'

const MAX_SHOWN = 20

type Props = { id: string; issues: Issue[]; onSelect: (issue: Issue) => void }

/** Mistakes with their lines. Choosing one moves the cursor there. Always there, so that screen readers notice changes. */
export function IssueList({ id, issues, onSelect }: Props) {
  return (
    <div id={id} class="issues" aria-live="polite">
      {issues.length > 0 && (
        <ul>
          {issues.slice(0, MAX_SHOWN).map((issue) => (
            <li key={`${issue.offset} ${issue.message}`} class={`issue-${issue.kind}`}>
              <button type="button" class="link" onClick={() => onSelect(issue)}>
                Line {issue.line}, column {issue.column}
              </button>{' '}
              {issue.message}
            </li>
          ))}
          {issues.length > MAX_SHOWN && <li class="muted">and {issues.length - MAX_SHOWN} more</li>}
        </ul>
      )}
    </div>
  )
}
